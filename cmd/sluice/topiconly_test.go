package main

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/sluice-kafka/sluice/internal/options"
)

func TestProbesAnswerWhereStrimzisDo(t *testing.T) {
	p := newProbes()
	var mgr manager.Manager = probed{probes: p}
	failure := error(nil)
	check := func(*http.Request) error { return failure }
	if err := errors.Join(mgr.AddHealthzCheck("loop", check), mgr.AddReadyzCheck("loop", check)); err != nil {
		t.Fatal(err)
	}
	handlers := p.handlers(map[string]http.Handler{"/debug": http.NotFoundHandler()})
	if handlers["/debug"] == nil {
		t.Error("another handler was dropped")
	}
	for _, want := range []int{200, 500} {
		for _, path := range []string{"/healthy", "/ready"} {
			answer := httptest.NewRecorder()
			handlers[path].ServeHTTP(answer, httptest.NewRequest("GET", path, nil))
			if answer.Code != want {
				t.Errorf("%s answers %d, want %d: %s", path, answer.Code, want, answer.Body)
			}
		}
		failure = errors.New("it hangs")
	}
}

// Whatever the environment lacks, the process says it all and ends.
func TestTopicOnlyNamesWhatIsWrong(t *testing.T) {
	t.Setenv("STRIMZI_NAMESPACE", "")
	t.Setenv("STRIMZI_MAX_BATCH_SIZE", "-1")
	root := newRoot()
	root.SetArgs([]string{options.TopicOnlyScript})
	root.SetErr(&bytes.Buffer{})
	err := root.ExecuteContext(t.Context())
	for _, want := range []string{"STRIMZI_NAMESPACE is missing", "STRIMZI_KAFKA_BOOTSTRAP_SERVERS is missing", `STRIMZI_MAX_BATCH_SIZE="-1"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one that says %q", err, want)
		}
	}
}

// A Deployment of Strimzi's names the path, wherever its image has the script.
func TestTopicOnlyIsStartedByThePathOfStrimzisScript(t *testing.T) {
	cmd, rest, err := newRoot().Find([]string{"/opt/strimzi/bin/topic_operator_run.sh"})
	if err != nil || len(rest) > 0 || cmd.Name() != options.TopicOnlyScript {
		t.Fatalf("found %s with %v, %v", cmd.Name(), rest, err)
	}
	if at := options.DefaultTopicOnly().Serving.MetricsBindAddress; at != ":8080" {
		t.Errorf("it serves at %s, where no probe asks", at)
	}
}
