package topic

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/labels"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/kafka"
	"github.com/sluice-kafka/sluice/internal/logging"
	"github.com/sluice-kafka/sluice/internal/options"
)

// unlabelled has one cluster take all resources that a selector selects.
func unlabelled(selector string) func(*Options) {
	return func(o *Options) {
		o.Clusters[0].Unlabelled = true
		o.Selector, _ = labels.Parse(selector)
	}
}

func TestTheSelectorAloneDecidesWhereNoLabelIsNeeded(t *testing.T) {
	e := newEnv(t, unlabelled("team=a"))
	mine, theirs, elsewhere := aTopic("mine"), aTopic("theirs"), aTopic("elsewhere")
	mine.Labels = map[string]string{"team": "a"}
	theirs.Labels = map[string]string{kafkav1.LabelCluster: "east"}
	elsewhere.Labels, elsewhere.Namespace = mine.Labels, "other"
	e.create(mine, theirs, elsewhere)
	e.settle()
	e.wantReady("mine")
	if got := e.kafka.Topics(); len(got) != 1 {
		t.Errorf("Kafka has %v", got)
	}
	// One that leaves the selector loses our finalizer, and its topic stays.
	e.change("mine", func(kt *kafkav1.KafkaTopic) { kt.Labels = nil })
	e.settle()
	if kt := e.get("mine"); len(kt.Finalizers) > 0 {
		t.Errorf("it left the selector and has the finalizers %v", kt.Finalizers)
	}
	if got := e.kafka.Topics(); len(got) != 1 {
		t.Errorf("Kafka has %v", got)
	}
}

func TestAStandaloneControllerIsReadyWhileItRuns(t *testing.T) {
	e := newEnv(t)
	if err := e.c.Running(); err == nil {
		t.Error("it is ready before it runs")
	}
	ctx, cancel := context.WithCancel(e.ctx)
	ended := make(chan struct{})
	go func() { defer close(ended); _ = e.c.run(ctx) }()
	await(t, "it is ready", func() bool { return e.c.Running() == nil })
	cancel()
	<-ended
	if err := e.c.Running(); err == nil {
		t.Error("it is ready after its end")
	}
}

func TestWhatIsReadForALoginIsConnectedWithWhenItChanges(t *testing.T) {
	user, failure := "one", error(nil)
	e := newEnv(t, func(o *Options) {
		o.Clusters[0].Login = func(context.Context) (kafka.Security, error) {
			return kafka.Security{SASL: &kafka.SASL{Username: user}}, failure
		}
	})
	e.loop.link.cut(nil)
	var dials []string
	e.dial = func(c Cluster) (Connection, error) {
		dials = append(dials, c.Security.SASL.Username)
		return Connection{Admin: e.kafka}, nil
	}
	for _, step := range []struct {
		user    string
		failure error
		want    []string
	}{
		{"one", nil, []string{"one"}},
		{"one", nil, []string{"one"}},
		{"two", errors.New("the file is gone"), []string{"one"}},
		{"two", nil, []string{"one", "two"}},
	} {
		user, failure = step.user, step.failure
		err := e.loop.renew(e.ctx)
		if (err != nil) != (step.failure != nil) || err != nil && !strings.Contains(err.Error(), "the file is gone") {
			t.Errorf("it failed with %v, want %v", err, step.failure)
		}
		if !slices.Equal(dials, step.want) || !e.loop.link.connected() {
			t.Errorf("dialled as %v, want %v; connected: %v", dials, step.want, e.loop.link.connected())
		}
	}
}

func TestWhatWouldBeEventsIsLogged(t *testing.T) {
	var out bytes.Buffer
	log, err := logging.New(options.Log{Level: "info", Format: options.LogFormatJSON}, &out)
	if err != nil {
		t.Fatal(err)
	}
	e := newEnv(t)
	kt := aTopic("orders")
	logged{log}.Eventf(kt, nil, "Normal", "TopicGone", "Reconcile", "The topic %s was gone", "orders")
	logged{log}.Eventf(e.loop.reference(), nil, "Warning", "KafkaUnreachable", "Reconcile", "away")
	for _, want := range []string{`"of":"ns/orders","reason":"TopicGone","what":"The topic orders was gone"`, `"of":"ns/east","reason":"KafkaUnreachable"`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("logged %s, want %s in it", out.String(), want)
		}
	}
}

// watching is an informer that runs until it does not.
type watching bool

func (w watching) IsStopped() bool { return !bool(w) }

func TestAControllerThatDoesNotWatchIsUnhealthy(t *testing.T) {
	e := newEnv(t)
	e.c.watch = watching(true)
	if err := e.c.Healthy(); err != nil {
		t.Errorf("it watches: %v", err)
	}
	e.c.watch = watching(false)
	if err := e.c.Healthy(); err == nil || !strings.Contains(err.Error(), "not watched") {
		t.Errorf("it watches no more: %v", err)
	}
}
