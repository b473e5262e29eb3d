package kafka

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Listener is a further listener of every broker.
type Listener struct {
	// Name is Kafka's for it, in capitals.
	Name string
	// TLS encrypts it, with a certificate of Options.Authority.
	TLS bool
	// Mutual refuses, on an encrypted listener, clients that have no certificate of
	// Options.Authority. The principal is the certificate's subject then.
	Mutual bool
	// Hosts are the names and IP addresses that the certificate is for; those of
	// loopback if empty.
	Hosts []string
	// Mechanisms of SASL; clients do not log in if empty.
	Mechanisms []string
	// Config has options of this listener alone.
	Config map[string]string
}

// protocol is Kafka's SecurityProtocol.
func (l Listener) protocol() string {
	switch sasl := len(l.Mechanisms) > 0; {
	case sasl && l.TLS:
		return "SASL_SSL"
	case sasl:
		return "SASL_PLAINTEXT"
	case l.TLS:
		return "SSL"
	default:
		return "PLAINTEXT"
	}
}

// protocols is the value of listener.security.protocol.map.
func protocols(listeners []Listener) string {
	entries := []string{"CONTROLLER:PLAINTEXT", "PLAINTEXT:PLAINTEXT"}
	for _, l := range listeners {
		entries = append(entries, l.Name+":"+l.protocol())
	}
	return strings.Join(entries, ",")
}

// authorizer asks for ACLs. Nobody logs in on the plain listener and on that of the
// controllers: the nodes themselves and the tests are anonymous there.
var authorizer = map[string]string{
	"authorizer.class.name":          "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
	"allow.everyone.if.no.acl.found": "false",
	"super.users":                    "User:ANONYMOUS",
}

const (
	plainModule = "org.apache.kafka.common.security.plain.PlainLoginModule required"
	scramModule = "org.apache.kafka.common.security.scram.ScramLoginModule required"
)

// render gives the options of a listener, whose files it writes into the folder.
func (l Listener) render(dir string, options *Options) (map[string]string, error) {
	prefix := "listener.name." + strings.ToLower(l.Name) + "."
	config := make(map[string]string)
	if l.TLS {
		if err := l.renderTLS(config, prefix, dir, options); err != nil {
			return nil, err
		}
	}
	if len(l.Mechanisms) > 0 {
		config[prefix+"sasl.enabled.mechanisms"] = strings.Join(l.Mechanisms, ",")
	}
	for _, mechanism := range l.Mechanisms {
		of := prefix + strings.ToLower(mechanism) + "."
		switch mechanism {
		case "PLAIN":
			config[of+"sasl.jaas.config"] = plainUsers(options.Users)
		case "SCRAM-SHA-256", "SCRAM-SHA-512":
			config[of+"sasl.jaas.config"] = scramModule + ";"
		case "OAUTHBEARER":
			if err := renderOAuth(config, of, dir, options); err != nil {
				return nil, err
			}
		default:
			return nil, fmt.Errorf("no broker of these tests can do the mechanism %s", mechanism)
		}
	}
	for name, value := range l.Config {
		config[prefix+name] = value
	}
	return config, nil
}

// plainUsers is a login module that knows the users (PlainServerCallbackHandler of
// Kafka's clients).
func plainUsers(users map[string]string) string {
	var text strings.Builder
	text.WriteString(plainModule)
	for _, name := range slices.Sorted(maps.Keys(users)) {
		fmt.Fprintf(&text, " user_%s=%q", name, users[name])
	}
	return text.String() + ";"
}

// renderTLS writes key, certificate and CA where Kafka finds them (PEM files: KIP-651).
func (l Listener) renderTLS(config map[string]string, prefix, dir string, options *Options) error {
	if options.Authority == nil {
		return errors.New("an encrypted listener needs Options.Authority")
	}
	hosts := l.Hosts
	if len(hosts) == 0 {
		hosts = []string{"127.0.0.1", "localhost"}
	}
	certificate, key, err := options.Authority.Issue(Subject{Name: "broker", Hosts: hosts})
	if err != nil {
		return err
	}
	files := map[string][]byte{"keystore": slices.Concat(key, certificate), "truststore": options.Authority.CA()}
	for kind, content := range files {
		path := filepath.Join(dir, strings.ToLower(l.Name)+"-"+kind+".pem")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return err
		}
		config[prefix+"ssl."+kind+".type"] = "PEM"
		config[prefix+"ssl."+kind+".location"] = path
	}
	config[prefix+"ssl.client.auth"] = "none"
	if l.Mutual {
		config[prefix+"ssl.client.auth"] = "required"
	}
	return nil
}

// renderOAuth has tokens checked by Kafka's own validator, with the issuer's keys in a
// file.
func renderOAuth(config map[string]string, prefix, dir string, options *Options) error {
	if options.Issuer == nil {
		return errors.New("a listener with OAUTHBEARER needs Options.Issuer")
	}
	keys, err := options.Issuer.keys()
	if err != nil {
		return err
	}
	if err := os.WriteFile(keysPath(dir), keys, 0o600); err != nil {
		return err
	}
	const module = "org.apache.kafka.common.security.oauthbearer."
	config[prefix+"sasl.jaas.config"] = module + "OAuthBearerLoginModule required;"
	config[prefix+"sasl.server.callback.handler.class"] = module + "OAuthBearerValidatorCallbackHandler"
	config[prefix+"sasl.oauthbearer.jwks.endpoint.url"] = "file://" + keysPath(dir)
	config[prefix+"sasl.oauthbearer.expected.audience"] = issuerAudience
	config[prefix+"sasl.oauthbearer.expected.issuer"] = issuerName
	return nil
}

func keysPath(dir string) string { return filepath.Join(dir, "keys.json") }

// scrams are arguments that give a new cluster the users of SCRAM.
func (o *Options) scrams() []string {
	var args []string
	for _, mechanism := range []string{"SCRAM-SHA-256", "SCRAM-SHA-512"} {
		if !slices.ContainsFunc(o.Listeners, func(l Listener) bool { return slices.Contains(l.Mechanisms, mechanism) }) {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(o.Users)) {
			args = append(args, "--add-scram", fmt.Sprintf("%s=[name=%s,password=%s]", mechanism, name, o.Users[name]))
		}
	}
	return args
}

// At are the addresses of all brokers on one of Options.Listeners.
func (c *Cluster) At(listener string) []string {
	i := slices.IndexFunc(c.options.Listeners, func(l Listener) bool { return l.Name == listener })
	if i < 0 {
		return nil
	}
	var addresses []string
	for _, n := range c.nodes {
		if n.isBroker() {
			addresses = append(addresses, n.secured[i].address())
		}
	}
	return addresses
}

func (p port) address() string { return fmt.Sprintf("127.0.0.1:%d", p.number) }
