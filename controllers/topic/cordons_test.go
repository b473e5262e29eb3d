package topic

import (
	"maps"
	"strings"
	"testing"
	"time"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/facts"
	"github.com/sluice-kafka/sluice/internal/rebalance"
)

func TestBrokersThatTakeNoNewReplicas(t *testing.T) {
	published := &facts.Facts{ObservedAt: time.Unix(1, 0), Brokers: []facts.Broker{{ID: 1}, {ID: 2, Draining: true}, {ID: 3, Draining: true}}}
	for name, test := range map[string]struct {
		cordon    string
		published *facts.Facts
		absent    bool
		want      map[int32]rebalance.Cordon
		wantErr   string
	}{
		"none of a Kafka that Sluice does not run": {cordon: "1"},
		"those cordoned by hand": {cordon: "1,4", published: published, want: map[int32]rebalance.Cordon{
			1: rebalance.CordonedByHand, 2: rebalance.Draining, 3: rebalance.Draining,
		}},
		"those that are to go":                           {published: published, want: map[int32]rebalance.Cordon{2: rebalance.Draining, 3: rebalance.Draining}},
		"both, and removal says more":                    {cordon: "2", published: published, want: map[int32]rebalance.Cordon{2: rebalance.Draining, 3: rebalance.Draining}},
		"nothing is known of a Kafka that is gone":       {absent: true, wantErr: "ns/k"},
		"nothing is known where the annotation is wrong": {cordon: "many", wantErr: kafkav1.AnnotationCordon},
		"nothing is known where facts cannot be read":    {published: &facts.Facts{}, wantErr: "being emptied"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newKafkasEnv(t)
			if !test.absent {
				e.put(aKafka("k", annotated(kafkav1.AnnotationCordon, test.cordon)))
			}
			if test.published != nil {
				cm, err := facts.Encode("ns", "k", *published)
				if err != nil {
					t.Fatal(err)
				}
				if test.published.Brokers == nil {
					cm.Data = nil
				}
				if err := e.kube.Create(e.ctx, cm); err != nil {
					t.Fatal(err)
				}
			}
			got, err := Cordons(e.c.live, key{Namespace: "ns", Name: "k"})(e.ctx)
			if (err != nil) != (test.wantErr != "") || err != nil && !strings.Contains(err.Error(), test.wantErr) {
				t.Fatalf("error %v, want one on %q", err, test.wantErr)
			}
			if err == nil && !maps.Equal(got, test.want) {
				t.Errorf("cordons %v, want %v", got, test.want)
			}
		})
	}
}
