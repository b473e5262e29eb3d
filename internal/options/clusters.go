package options

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

// ExternalCluster is a Kafka that Sluice does not run, as the table of external
// clusters names it.
type ExternalCluster struct {
	// Name is what the label strimzi.io/cluster of its topics says.
	Name string `json:"name"`
	// Namespaces whose KafkaTopics belong to it.
	Namespaces []string `json:"namespaces"`
	// BootstrapServers are host:port.
	BootstrapServers []string `json:"bootstrapServers"`
	// TLS of the connections.
	TLS ExternalTLS `json:"tls,omitzero"`
	// Credentials of the client.
	Credentials ExternalCredentials `json:"credentials,omitzero"`
	// ReplicasEngine is EngineBuiltin of the API, which has Sluice itself change
	// replication factors, or empty where nobody does.
	ReplicasEngine string `json:"replicasEngine,omitempty"`
}

// ExternalTLS is how connections to an external cluster are encrypted.
type ExternalTLS struct {
	// Enabled encrypts them.
	Enabled bool `json:"enabled"`
	// CA that the brokers are verified by; the system's count where it is left out.
	CA ExternalCA `json:"ca,omitzero"`
}

// ExternalCA names certificates in a Secret.
type ExternalCA struct {
	// Secret in the operator's namespace.
	Secret string `json:"secret"`
	// Key in its data; ca.crt where it is left out.
	Key string `json:"key,omitempty"`
}

// ExternalCredentials name a Secret whose keys are those of kafka.SecurityOf.
type ExternalCredentials struct {
	// Secret in the operator's namespace.
	Secret string `json:"secret"`
}

const defaultCAKey = "ca.crt"

// loadExternalClusters reads and judges the table of external clusters, a YAML
// list. All that is wrong is reported at once, with the entry's path.
func loadExternalClusters(path string) ([]ExternalCluster, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the table of external clusters: %w", err)
	}
	var clusters []ExternalCluster
	if err := yaml.UnmarshalStrict(raw, &clusters); err != nil {
		return nil, fmt.Errorf("%s must be a YAML list of entries with name, namespaces, bootstrapServers and, where wanted, tls, credentials and replicasEngine: %w", path, err)
	}
	for i := range clusters {
		if ca := &clusters[i].TLS.CA; ca.Secret != "" && ca.Key == "" {
			ca.Key = defaultCAKey
		}
	}
	if err := checkClusters(clusters); err != nil {
		return nil, err
	}
	return clusters, nil
}

func checkClusters(clusters []ExternalCluster) error {
	var failures []error
	entries := map[string]int{}
	for i, c := range clusters {
		failures = append(failures, checkCluster(fmt.Sprintf("[%d]", i), c)...)
		if other, taken := entries[c.Name]; taken {
			failures = append(failures, fmt.Errorf(
				"[%d].name: %q is the name of entry [%d] already; name a cluster once, with all of its namespaces", i, c.Name, other))
			continue
		}
		entries[c.Name] = i
	}
	return errors.Join(failures...)
}

func checkCluster(path string, c ExternalCluster) []error {
	var failures []error
	if problems := validation.IsValidLabelValue(c.Name); c.Name == "" || len(problems) > 0 {
		failures = append(failures, fmt.Errorf("%s.name: %q must be the value of the label strimzi.io/cluster of its topics: %s",
			path, c.Name, strings.Join(append(problems, "not empty"), "; ")))
	}
	if len(c.Namespaces) == 0 {
		failures = append(failures, fmt.Errorf("%s.namespaces: name at least one namespace whose KafkaTopics belong to %q", path, c.Name))
	}
	for i, ns := range c.Namespaces {
		if problems := validation.IsDNS1123Label(ns); len(problems) > 0 {
			failures = append(failures, fmt.Errorf("%s.namespaces[%d]: %q is not a namespace: %s", path, i, ns, strings.Join(problems, "; ")))
		}
	}
	if len(c.BootstrapServers) == 0 {
		failures = append(failures, fmt.Errorf("%s.bootstrapServers: name at least one broker of %q as host:port", path, c.Name))
	}
	for i, s := range c.BootstrapServers {
		if !isServer(s) {
			failures = append(failures, fmt.Errorf("%s.bootstrapServers[%d]: %q must be host:port, each server an entry of its own", path, i, s))
		}
	}
	return append(failures, checkConnection(path, c)...)
}

// checkConnection judges how a cluster is connected to.
func checkConnection(path string, c ExternalCluster) []error {
	var failures []error
	if c.TLS.CA != (ExternalCA{}) && !c.TLS.Enabled {
		failures = append(failures, fmt.Errorf("%s.tls.enabled: must be true where tls.ca is given: a connection that is not encrypted verifies nobody", path))
	}
	for _, secret := range []struct{ path, name, key string }{
		{"tls.ca", c.TLS.CA.Secret, c.TLS.CA.Key},
		{"credentials", c.Credentials.Secret, ""},
	} {
		if problems := validation.IsDNS1123Subdomain(secret.name); secret.name != "" && len(problems) > 0 {
			failures = append(failures, fmt.Errorf("%s.%s.secret: %q is not the name of a Secret: %s", path, secret.path, secret.name, strings.Join(problems, "; ")))
		}
		if secret.name == "" && secret.key != "" {
			failures = append(failures, fmt.Errorf("%s.%s.secret: name the Secret, in the operator's namespace, that has the key %q", path, secret.path, secret.key))
		}
	}
	if c.ReplicasEngine != "" && c.ReplicasEngine != apiv1.EngineBuiltin {
		failures = append(failures, fmt.Errorf("%s.replicasEngine: %q is not an engine: %s has Sluice itself change replication factors, and left out nobody does",
			path, c.ReplicasEngine, apiv1.EngineBuiltin))
	}
	return failures
}

// isServer tells whether s is host:port.
func isServer(s string) bool {
	host, port, err := net.SplitHostPort(s)
	n, numErr := strconv.ParseUint(port, 10, 16)
	return err == nil && host != "" && numErr == nil && n > 0
}
