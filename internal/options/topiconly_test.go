package options

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
)

// deployed is the environment of Strimzi's standalone Deployment.
var deployed = map[string]string{
	"STRIMZI_NAMESPACE":                       "kafka",
	"STRIMZI_RESOURCE_LABELS":                 "strimzi.io/cluster=my-cluster",
	"STRIMZI_KAFKA_BOOTSTRAP_SERVERS":         "my-cluster-kafka-bootstrap:9092",
	"STRIMZI_FULL_RECONCILIATION_INTERVAL_MS": "120000",
	"STRIMZI_LOG_LEVEL":                       "INFO",
	"STRIMZI_TLS_ENABLED":                     "false",
}

// readTopicOnly is what the command does with the Deployment's environment, changed
// by env: a value of "-" takes a variable out.
func readTopicOnly(args []string, env map[string]string) (TopicOnly, error) {
	t := DefaultTopicOnly()
	fs := pflag.NewFlagSet("test", pflag.ContinueOnError)
	t.AddFlags(fs)
	if err := fs.Parse(args); err != nil {
		return t, err
	}
	all := map[string]string{}
	for _, from := range []map[string]string{deployed, env} {
		for name, value := range from {
			if all[name] = value; value == "-" {
				delete(all, name)
			}
		}
	}
	var environ []string
	for name, value := range all {
		environ = append(environ, name+"="+value)
	}
	err := t.Read(fs, environ)
	return t, err
}

func TestTopicOnlySettings(t *testing.T) {
	tests := map[string]struct {
		args []string
		env  map[string]string
		want func(*TopicOnly)
	}{
		"the Deployment as it is": {want: func(*TopicOnly) {}},
		"what batches are": {
			env: map[string]string{"STRIMZI_MAX_BATCH_SIZE": "50", "STRIMZI_MAX_BATCH_LINGER_MS": "20", "STRIMZI_FULL_RECONCILIATION_INTERVAL_MS": "60000"},
			want: func(o *TopicOnly) {
				o.Topics.MaxBatchSize, o.Topics.MaxBatchLinger, o.Topics.ResyncInterval = 50, 20*time.Millisecond, time.Minute
			},
		},
		"the linger as it is documented": {
			env:  map[string]string{"MAX_BATCH_LINGER_MS": "20"},
			want: func(o *TopicOnly) { o.Topics.MaxBatchLinger = 20 * time.Millisecond },
		},
		"empty variables count as not set": {
			env:  map[string]string{"STRIMZI_MAX_BATCH_SIZE": "", "STRIMZI_LOG_LEVEL": "", "STRIMZI_SASL_ENABLED": "", "STRIMZI_MAX_QUEUE_SIZE": ""},
			want: func(*TopicOnly) {},
		},
		"our variable wins over Strimzi's": {
			env: map[string]string{"STRIMZI_MAX_BATCH_SIZE": "50", "SLUICE_MAX_BATCH_SIZE": "60"},
			want: func(o *TopicOnly) {
				o.Topics.MaxBatchSize = 60
				o.Notes = []Note{{"STRIMZI_MAX_BATCH_SIZE", "--max-batch-size (or SLUICE_MAX_BATCH_SIZE) is given too, and wins"}}
			},
		},
		"a flag wins over both": {
			args: []string{"--log-level=4"},
			env:  map[string]string{"STRIMZI_LOG_LEVEL": "-", "SLUICE_LOG_LEVEL": "error"},
			want: func(o *TopicOnly) { o.Log.Level = "4" },
		},
		"no selector": {
			env:  map[string]string{"STRIMZI_RESOURCE_LABELS": "-"},
			want: func(o *TopicOnly) { o.Topics.Selector, o.ClusterName = "", "kafka" },
		},
		"a selector of other labels": {
			env:  map[string]string{"STRIMZI_RESOURCE_LABELS": "team = a, stage=prod"},
			want: func(o *TopicOnly) { o.Topics.Selector, o.ClusterName = "team = a, stage=prod", "kafka" },
		},
		"a selector with a superfluous comma": {
			env:  map[string]string{"STRIMZI_RESOURCE_LABELS": "team=a, "},
			want: func(o *TopicOnly) { o.Topics.Selector, o.ClusterName = "team=a", "kafka" },
		},
		"servers as Kafka's clients take them": {
			env:  map[string]string{"STRIMZI_KAFKA_BOOTSTRAP_SERVERS": " SSL://a:9093 , [::1]:9092,"},
			want: func(o *TopicOnly) { o.BootstrapServers = []string{"a:9093", "[::1]:9092"} },
		},
		"what may be altered": {
			env:  map[string]string{"STRIMZI_ALTERABLE_TOPIC_CONFIG": "compression.type, retention.ms", "STRIMZI_USE_FINALIZERS": "TRUE"},
			want: func(o *TopicOnly) { o.Topics.AlterableConfig = "compression.type, retention.ms" },
		},
		"a client ID": {
			env:  map[string]string{"STRIMZI_CLIENT_ID": "me"},
			want: func(o *TopicOnly) { o.ClientID = "me" },
		},
		"the address from our variable": {
			env:  map[string]string{"SLUICE_METRICS_BIND_ADDRESS": "127.0.0.1:1"},
			want: func(o *TopicOnly) { o.Serving.MetricsBindAddress = "127.0.0.1:1" },
		},
		"variables without an effect are named, their values are not": {
			env: map[string]string{
				"STRIMZI_MAX_QUEUE_SIZE": "many", "STRIMZI_JAVA_OPTS": "-Xmx1g", "STRIMZI_CRUISE_CONTROL_ENABLED": "true",
				"STRIMZI_CRUISE_CONTROL_RACK_AWARE": "true", "STRIMZI_NEW": "secret", "STRIMZI_OF_NOTHING": "", "OTHER": "x",
			},
			want: func(o *TopicOnly) {
				o.Notes = []Note{
					{"STRIMZI_CRUISE_CONTROL_ENABLED", noCruiseControl}, {"STRIMZI_CRUISE_CONTROL_RACK_AWARE", noCruiseControl},
					{"STRIMZI_JAVA_OPTS", withoutEffect["STRIMZI_JAVA_OPTS"]}, {"STRIMZI_MAX_QUEUE_SIZE", withoutEffect["STRIMZI_MAX_QUEUE_SIZE"]},
					{"STRIMZI_NEW", "it is not a variable of Strimzi's topic operator that Sluice knows"},
				}
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := readTopicOnly(tc.args, tc.env)
			if err != nil {
				t.Fatal(err)
			}
			want := DefaultTopicOnly()
			want.Namespace, want.BootstrapServers, want.ClusterName = "kafka", []string{"my-cluster-kafka-bootstrap:9092"}, "my-cluster"
			want.Topics.Selector = "strimzi.io/cluster=my-cluster"
			want.Login.Data = Settings{"security.protocol": "PLAINTEXT"}
			tc.want(&want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestTopicOnlyLogLevels(t *testing.T) {
	for level, want := range map[string]string{
		"ERROR": "error", "WARNING": "info", "WARN": "info", "INFO": "info", "info": "info", "DEBUG": "debug", "TRACE": "4", "OFF": "error",
	} {
		got, err := readTopicOnly(nil, map[string]string{"STRIMZI_LOG_LEVEL": level})
		if err != nil || got.Log.Level != want {
			t.Errorf("%s: %q, %v; want %q", level, got.Log.Level, err, want)
		}
	}
}

func TestTopicOnlyRefusals(t *testing.T) {
	tests := map[string]struct {
		env map[string]string
		// want are parts that the message has to have, hidden one that it must not.
		want   []string
		hidden string
	}{
		"nothing given": {
			env:  map[string]string{"STRIMZI_NAMESPACE": "-", "STRIMZI_KAFKA_BOOTSTRAP_SERVERS": "-"},
			want: []string{"STRIMZI_NAMESPACE is missing: name the namespace", "STRIMZI_KAFKA_BOOTSTRAP_SERVERS is missing: name at least one broker"},
		},
		"several at once": {
			env: map[string]string{
				"STRIMZI_NAMESPACE": "Kafka", "STRIMZI_MAX_BATCH_SIZE": "0", "STRIMZI_MAX_BATCH_LINGER_MS": "90000", "STRIMZI_LOG_LEVEL": "LOUD",
				"STRIMZI_TLS_ENABLED": "yes", "STRIMZI_SASL_ENABLED": "1", "SLUICE_TOPIC_WORKERS": "none",
			},
			want: []string{
				`STRIMZI_NAMESPACE="Kafka": a lowercase`, `STRIMZI_MAX_BATCH_SIZE="0": must be 1 to 10000`,
				`STRIMZI_MAX_BATCH_LINGER_MS="90000" (1m30s): must be 0s to 1m0s`, `STRIMZI_LOG_LEVEL="LOUD": must be ERROR`,
				`STRIMZI_TLS_ENABLED="yes": must be true or false`, `STRIMZI_SASL_ENABLED="1": must be true or false`, `SLUICE_TOPIC_WORKERS="none"`,
			},
		},
		"a word for a number": {
			env:  map[string]string{"STRIMZI_MAX_BATCH_SIZE": "many", "STRIMZI_FULL_RECONCILIATION_INTERVAL_MS": "2m"},
			want: []string{`STRIMZI_MAX_BATCH_SIZE="many": must be an integer`, `STRIMZI_FULL_RECONCILIATION_INTERVAL_MS="2m": must be a number of milliseconds`},
		},
		"no interval":             {env: map[string]string{"STRIMZI_FULL_RECONCILIATION_INTERVAL_MS": "0"}, want: []string{"1 or more"}},
		"an interval too long":    {env: map[string]string{"STRIMZI_FULL_RECONCILIATION_INTERVAL_MS": "9223372036854775807"}, want: []string{"INTERVAL_MS"}},
		"a server without a port": {env: map[string]string{"STRIMZI_KAFKA_BOOTSTRAP_SERVERS": "a:9092,b"}, want: []string{`STRIMZI_KAFKA_BOOTSTRAP_SERVERS="a:9092,b": "b" is not host:port`}},
		"servers of nothing":      {env: map[string]string{"STRIMZI_KAFKA_BOOTSTRAP_SERVERS": ","}, want: []string{"STRIMZI_KAFKA_BOOTSTRAP_SERVERS"}},
		"labels that are none":    {env: map[string]string{"STRIMZI_RESOURCE_LABELS": "a=b=c"}, want: []string{`STRIMZI_RESOURCE_LABELS="a=b=c": must be a label selector`}},
		"a protocol that is not known": {
			env:  map[string]string{"STRIMZI_SECURITY_PROTOCOL": "TLS"},
			want: []string{`STRIMZI_SECURITY_PROTOCOL="TLS": must be PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL`},
		},
		"TLS without": {
			env:  map[string]string{"STRIMZI_TLS_ENABLED": "true", "STRIMZI_SECURITY_PROTOCOL": "SASL_PLAINTEXT", "STRIMZI_SASL_ENABLED": "true"},
			want: []string{"STRIMZI_TLS_ENABLED=true: set SSL or SASL_SSL", "STRIMZI_SASL_MECHANISM is missing", "STRIMZI_SASL_USERNAME is missing", "STRIMZI_SASL_PASSWORD is missing"},
		},
		"a login that is switched off": {
			env:  map[string]string{"STRIMZI_SECURITY_PROTOCOL": "SASL_SSL"},
			want: []string{"STRIMZI_SECURITY_PROTOCOL", "STRIMZI_SASL_ENABLED is not true"},
		},
		"a mechanism of its own": {
			env:  login("STRIMZI_SASL_MECHANISM", "gssapi"),
			want: []string{`STRIMZI_SASL_MECHANISM="gssapi": must be plain`, "STRIMZI_SASL_CUSTOM_CONFIG_JSON"}, hidden: "letmein",
		},
		"a Secret without its keys": {
			env:  map[string]string{"STRIMZI_TLS_SECRET_NAME": "mine"},
			want: []string{"STRIMZI_TLS_CERT_NAME is missing", "STRIMZI_TLS_KEY_NAME is missing", "Secret mine"},
		},
		"stores by half": {
			env: map[string]string{
				"STRIMZI_SECURITY_PROTOCOL": "SSL", "STRIMZI_TRUSTSTORE_PASSWORD": "letmein", "STRIMZI_KEYSTORE_LOCATION": "/k.p12",
			},
			want: []string{"STRIMZI_TRUSTSTORE_LOCATION is missing", "STRIMZI_KEYSTORE_PASSWORD is missing"}, hidden: "letmein",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := readTopicOnly(nil, tc.env)
			if err == nil {
				t.Fatal("not refused")
			}
			for _, part := range tc.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("it does not say %q:\n%v", part, err)
				}
			}
			if tc.hidden != "" && strings.Contains(err.Error(), tc.hidden) {
				t.Errorf("a secret is shown:\n%v", err)
			}
		})
	}
}
