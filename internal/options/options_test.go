package options

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

// parse is what the command does with its flags and environment.
func parse(args []string, env map[string]string) (Operator, error) {
	o := Default()
	fs := pflag.NewFlagSet("test", pflag.ContinueOnError)
	o.AddFlags(fs)
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	err := BindEnv(fs, func(name string) (string, bool) { v, ok := env[name]; return v, ok })
	if err != nil {
		return o, err
	}
	return o, o.Complete()
}

func TestDefaultsAreValid(t *testing.T) {
	got, err := parse(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Default(), got); diff != "" {
		t.Fatalf("parsing nothing changed the defaults:\n%s", diff)
	}
}

func TestEveryFlagNamesItsVariable(t *testing.T) {
	o := Default()
	fs := pflag.NewFlagSet("test", pflag.ContinueOnError)
	o.AddFlags(fs)
	fs.VisitAll(func(f *pflag.Flag) {
		if !strings.HasSuffix(f.Usage, "["+envName(f.Name)+"]") {
			t.Errorf("--%s: usage %q does not name %s", f.Name, f.Usage, envName(f.Name))
		}
	})
	if got := envName("max-batch-size"); got != "SLUICE_MAX_BATCH_SIZE" {
		t.Errorf("envName gave %s", got)
	}
}

func TestSources(t *testing.T) {
	tests := map[string]struct {
		args []string
		env  map[string]string
		want func(*Operator)
	}{
		"a flag": {
			args: []string{"--max-batch-size=50"},
			want: func(o *Operator) { o.Topics.MaxBatchSize = 50 },
		},
		"a variable": {
			env:  map[string]string{"SLUICE_MAX_BATCH_SIZE": "50"},
			want: func(o *Operator) { o.Topics.MaxBatchSize = 50 },
		},
		"a flag wins over its variable": {
			args: []string{"--max-batch-size=50"},
			env:  map[string]string{"SLUICE_MAX_BATCH_SIZE": "60"},
			want: func(o *Operator) { o.Topics.MaxBatchSize = 50 },
		},
		"an empty variable counts as not set": {
			env:  map[string]string{"SLUICE_MAX_BATCH_SIZE": ""},
			want: func(*Operator) {},
		},
		"options that may be altered, in a variable": {
			env:  map[string]string{"SLUICE_ALTERABLE_TOPIC_CONFIG": "none"},
			want: func(o *Operator) { o.Topics.AlterableConfig = "none" },
		},
		"a list in a variable": {
			env:  map[string]string{"SLUICE_WEBHOOK_CERT_HOSTS": "127.0.0.1,localhost"},
			want: func(o *Operator) { o.Certificates.ExtraHosts = []string{"127.0.0.1", "localhost"} },
		},
		"no controllers at all": {
			args: []string{"--controllers="},
			want: func(o *Operator) { o.Controllers = []string{} },
		},
		"servers switched off": {
			args: []string{"--metrics-bind-address=0", "--health-probe-bind-address=0"},
			want: func(o *Operator) {
				o.Serving.MetricsBindAddress, o.Serving.HealthProbeBindAddress = Disabled, Disabled
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := parse(tc.args, tc.env)
			if err != nil {
				t.Fatal(err)
			}
			want := Default()
			tc.want(&want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	tests := map[string]struct {
		args []string
		env  map[string]string
		// want are parts that the message has to have.
		want []string
	}{
		"a controller that is not known":          {args: []string{"--controllers=topic,brokers"}, want: []string{"--controllers=topic,brokers", "SLUICE_CONTROLLERS", `"brokers"`, "known are: topic"}},
		"a controller named twice":                {args: []string{"--controllers=topic,topic"}, want: []string{"--controllers", "twice"}},
		"a namespace that cannot be":              {args: []string{"--namespace=Sluice"}, want: []string{"--namespace=Sluice", "lower"}},
		"a negative rate":                         {args: []string{"--kube-api-qps=-1"}, want: []string{"--kube-api-qps=-1", "0 (no bound)"}},
		"no burst":                                {args: []string{"--kube-api-burst=0"}, want: []string{"--kube-api-burst=0"}},
		"a port that cannot be":                   {args: []string{"--webhook-port=70000"}, want: []string{"--webhook-port=70000", "1 to 65535"}},
		"a mode that is not known":                {args: []string{"--cert-mode=vault"}, want: []string{"--cert-mode=vault", "self-signed or cert-manager"}},
		"a host with a port":                      {args: []string{"--webhook-cert-hosts=localhost:9443"}, want: []string{"--webhook-cert-hosts", "without a port"}},
		"a CA that retires too soon":              {args: []string{"--cert-retire-after=1s"}, want: []string{"--cert-retire-after=1s", "--cert-propagation-delay"}},
		"a validity shorter than a rotation":      {args: []string{"--cert-validity=1h"}, want: []string{"--cert-validity=1h", "at least"}},
		"a batch of nothing":                      {args: []string{"--max-batch-size=0"}, want: []string{"--max-batch-size=0", "1 to 10000"}},
		"an unknown answer to an outage":          {args: []string{"--on-unreachable=panic"}, want: []string{"--on-unreachable=panic", "wait or orphan"}},
		"no patience with an outage":              {args: []string{"--orphan-after=0s"}, want: []string{"--orphan-after=0s", "1s"}},
		"all options and one":                     {args: []string{"--alterable-topic-config=all,retention.ms"}, want: []string{"--alterable-topic-config=all,retention.ms", "SLUICE_ALTERABLE_TOPIC_CONFIG", "stand alone"}},
		"no workers":                              {args: []string{"--topic-workers=0"}, want: []string{"--topic-workers=0"}},
		"no clusters at a time":                   {args: []string{"--cluster-workers=0"}, want: []string{"--cluster-workers=0", "1 to 100"}},
		"evidence from a single moment":           {args: []string{"--empty-for=1s"}, want: []string{"--empty-for=1s", "5s to 24h"}},
		"a resync without a pause":                {args: []string{"--resync-interval=1ms"}, want: []string{"--resync-interval=1ms", "1s to 24h"}},
		"an address without a port":               {args: []string{"--metrics-bind-address=localhost"}, want: []string{"--metrics-bind-address=localhost", "host:port"}},
		"an address with a word for a port":       {args: []string{"--health-probe-bind-address=:http"}, want: []string{"--health-probe-bind-address=:http", "number"}},
		"a level that is not known":               {args: []string{"--log-level=loud"}, want: []string{"--log-level=loud", "debug, info, error"}},
		"a format that is not known":              {args: []string{"--log-format=xml"}, want: []string{"--log-format=xml", "json or console"}},
		"a value of the wrong type":               {args: []string{"--max-batch-size=many"}, want: []string{"max-batch-size", "many"}},
		"a variable of the wrong type":            {env: map[string]string{"SLUICE_MAX_BATCH_LINGER": "100"}, want: []string{"SLUICE_MAX_BATCH_LINGER", `"100"`}},
		"a table of clusters that does not exist": {args: []string{"--external-clusters=/nowhere.yaml"}, want: []string{"--external-clusters=/nowhere.yaml", "no such file"}},
		"several at once":                         {args: []string{"--webhook-port=0", "--log-format=xml"}, want: []string{"--webhook-port=0", "--log-format=xml"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := parse(tc.args, tc.env)
			if err == nil {
				t.Fatal("not refused")
			}
			for _, part := range tc.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not say %q", err, part)
				}
			}
		})
	}
}

func TestExternalClusters(t *testing.T) {
	tests := map[string]struct {
		text string
		want []ExternalCluster
		// wantErr are parts of the message.
		wantErr []string
	}{
		"one cluster of two namespaces": {
			text: "- name: my-cluster\n  namespaces: [kafka, apps]\n  bootstrapServers: ['127.0.0.1:9092', 'broker-1:9092']\n",
			want: []ExternalCluster{{Name: "my-cluster", Namespaces: []string{"kafka", "apps"}, BootstrapServers: []string{"127.0.0.1:9092", "broker-1:9092"}}},
		},
		"one that is encrypted and logged in to": {
			text: "- {name: a, namespaces: [x], bootstrapServers: ['b:1'], tls: {enabled: true, ca: {secret: my-ca}}, credentials: {secret: login}, replicasEngine: builtin}\n",
			want: []ExternalCluster{{
				Name: "a", Namespaces: []string{"x"}, BootstrapServers: []string{"b:1"}, ReplicasEngine: apiv1.EngineBuiltin,
				TLS:         ExternalTLS{Enabled: true, CA: ExternalCA{Secret: "my-ca", Key: "ca.crt"}},
				Credentials: ExternalCredentials{Secret: "login"},
			}},
		},
		"a CA for what is not encrypted": {
			text:    "- {name: a, namespaces: [x], bootstrapServers: ['b:1'], tls: {enabled: false, ca: {secret: my-ca}}}\n",
			wantErr: []string{"[0].tls.enabled", "must be true"},
		},
		"a key without its Secret": {
			text:    "- {name: a, namespaces: [x], bootstrapServers: ['b:1'], tls: {enabled: true, ca: {key: ca.pem}}}\n",
			wantErr: []string{"[0].tls.ca.secret", "ca.pem"},
		},
		"a Secret that cannot be": {
			text:    "- {name: a, namespaces: [x], bootstrapServers: ['b:1'], credentials: {secret: My_Secret}}\n",
			wantErr: []string{"[0].credentials.secret", "My_Secret"},
		},
		"an engine that there is not": {
			text:    "- {name: a, namespaces: [x], bootstrapServers: ['b:1'], replicasEngine: cruise-control}\n",
			wantErr: []string{"[0].replicasEngine", "cruise-control", "builtin"},
		},
		"an empty table": {text: "[]\n", want: []ExternalCluster{}},
		"a cluster in two entries": {
			text:    "- {name: a, namespaces: [x], bootstrapServers: ['b:1']}\n- {name: a, namespaces: [other], bootstrapServers: ['c:1']}\n",
			wantErr: []string{"[1].name", "entry [0]", "all of its namespaces"},
		},
		"a misspelt key":             {text: "- {name: a, namespace: x}\n", wantErr: []string{"namespace", "bootstrapServers"}},
		"a map":                      {text: "name: a\n", wantErr: []string{"YAML list"}},
		"nothing filled in":          {text: "- {}\n", wantErr: []string{"[0].name", "[0].namespaces", "[0].bootstrapServers"}},
		"servers in one string":      {text: "- {name: a, namespaces: [x], bootstrapServers: ['b:1,c:1']}\n", wantErr: []string{"[0].bootstrapServers[0]", "an entry of its own"}},
		"a server without a port":    {text: "- {name: a, namespaces: [x], bootstrapServers: [b]}\n", wantErr: []string{"[0].bootstrapServers[0]", "host:port"}},
		"a namespace with a pattern": {text: "- {name: a, namespaces: ['*'], bootstrapServers: ['b:1']}\n", wantErr: []string{"[0].namespaces[0]"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "clusters.yaml")
			if err := os.WriteFile(path, []byte(tc.text), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := loadExternalClusters(path)
			if (err != nil) != (tc.wantErr != nil) {
				t.Fatalf("error: %v", err)
			}
			for _, part := range tc.wantErr {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not say %q", err, part)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
