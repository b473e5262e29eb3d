package facts_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/facts"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func example() facts.Facts {
	three, yes := int64(3), true
	return facts.Facts{
		ObservedAt: now,
		Brokers: []facts.Broker{
			{ID: 0, Replicas: &three, Volumes: []facts.Volume{{ID: 0, Replicas: 1, Bytes: 12_000}, {ID: 1, Replicas: 2, Bytes: 99}}},
			{ID: 3, Replicas: &three, Cordoned: &yes, Draining: true},
			{ID: 4},
		},
		HighestFactor: &facts.TopicFactor{Topic: "orders", Factor: 3},
	}
}

func encode(t *testing.T, f facts.Facts) *corev1.ConfigMap {
	t.Helper()
	cm, err := facts.Encode("kafka", "my-cluster", f)
	if err != nil {
		t.Fatal(err)
	}
	return cm
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	cm := encode(t, example())
	if cm.Name != "my-cluster-sluice-facts" || cm.Namespace != "kafka" ||
		cm.Labels[apiv1.LabelFacts] != "true" || cm.Labels[apiv1.LabelCluster] != "my-cluster" {
		t.Errorf("got %+v", cm.ObjectMeta)
	}
	got, err := facts.Decode(cm)
	if diff := cmp.Diff(example(), got); err != nil || diff != "" {
		t.Errorf("%v, -want +got:\n%s", err, diff)
	}
	nobody := facts.Facts{ObservedAt: now, Brokers: []facts.Broker{}}
	if got, err = facts.Decode(encode(t, nobody)); err != nil || len(got.Brokers) != 0 || got.HighestFactor != nil {
		t.Errorf("a cluster without brokers: %+v, %v", got, err)
	}
}

// The text is written only on change, so equal facts need equal text.
func TestEqualFactsGiveEqualText(t *testing.T) {
	t.Parallel()
	want := encode(t, example()).Data[facts.Key]
	for name, change := range map[string]func(*facts.Facts){
		"another order":     func(f *facts.Facts) { f.Brokers[0], f.Brokers[2] = f.Brokers[2], f.Brokers[0] },
		"a volume first":    func(f *facts.Facts) { v := f.Brokers[0].Volumes; v[0], v[1] = v[1], v[0] },
		"some more bytes":   func(f *facts.Facts) { f.Brokers[0].Volumes[0].Bytes = 12_499 },
		"another time zone": func(f *facts.Facts) { f.ObservedAt = now.In(time.FixedZone("x", 3600)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := example()
			change(&f)
			before := f.Brokers[0].ID
			if diff := cmp.Diff(want, encode(t, f).Data[facts.Key]); diff != "" {
				t.Error(diff)
			}
			if f.Brokers[0].ID != before {
				t.Error("the caller's facts were changed")
			}
		})
	}
}

func TestBytesAreRounded(t *testing.T) {
	t.Parallel()
	for in, want := range map[int64]int64{
		0: 0, 9: 9, 99: 99, 100: 100, 104: 100, 105: 110, 999: 1000, 12_499: 12_000, 12_500: 13_000,
		995: 1000, 994: 990,
		9_223_372_036_854_775_807: 9_200_000_000_000_000_000,
	} {
		f := example()
		f.Brokers[0].Volumes[0].Bytes = in
		got, err := facts.Decode(encode(t, f))
		if err != nil || got.Brokers[0].Volumes[0].Bytes != want {
			t.Errorf("%d became %d, want %d: %v", in, got.Brokers[0].Volumes[0].Bytes, want, err)
		}
	}
}

// Bad content is nothing known, and never a cluster without brokers.
func TestWhatCannotBeReliedOnIsUnknown(t *testing.T) {
	t.Parallel()
	const at = `"observedAt":"2026-03-01T12:00:00Z"`
	for name, text := range map[string]string{
		"nothing":                 ``,
		"no JSON":                 `{`,
		"null":                    `null`,
		"an empty object":         `{}`,
		"no brokers":              `{` + at + `}`,
		"brokers that are null":   `{` + at + `,"brokers":null}`,
		"no time":                 `{"brokers":[]}`,
		"a broker twice":          `{` + at + `,"brokers":[{"id":1},{"id":1}]}`,
		"a negative broker":       `{` + at + `,"brokers":[{"id":-1}]}`,
		"a word for an ID":        `{` + at + `,"brokers":[{"id":"one"}]}`,
		"negative replicas":       `{` + at + `,"brokers":[{"id":1,"replicas":-1}]}`,
		"negative bytes":          `{` + at + `,"brokers":[{"id":1,"volumes":[{"id":0,"replicas":1,"bytes":-5}]}]}`,
		"a volume twice":          `{` + at + `,"brokers":[{"id":1,"volumes":[{"id":0},{"id":0}]}]}`,
		"a factor of zero":        `{` + at + `,"brokers":[],"highestReplicationFactor":{"topic":"t"}}`,
		"a factor without topic":  `{` + at + `,"brokers":[],"highestReplicationFactor":{"replicationFactor":3}}`,
		"an impossible factor":    `{` + at + `,"brokers":[],"highestReplicationFactor":{"topic":"t","replicationFactor":40000}}`,
		"something after the end": `{` + at + `,"brokers":[]} x`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cm := &corev1.ConfigMap{Data: map[string]string{facts.Key: text}}
			if f, err := facts.Decode(cm); !errors.Is(err, facts.ErrUnreadable) {
				t.Errorf("got %+v, %v", f, err)
			}
		})
	}
	if _, err := facts.Decode(&corev1.ConfigMap{}); !errors.Is(err, facts.ErrUnreadable) {
		t.Errorf("without the key: %v", err)
	}
	later := &corev1.ConfigMap{Data: map[string]string{facts.Key: `{` + at + `,"brokers":[{"id":1,"mood":"good"}],"weather":{}}`}}
	if f, err := facts.Decode(later); err != nil || len(f.Brokers) != 1 {
		t.Errorf("what a later version adds is in the way: %+v, %v", f, err)
	}
}

func TestEncodeRefusesWhatIsNotKnown(t *testing.T) {
	t.Parallel()
	_, err := facts.Encode("kafka", "my-cluster", facts.Facts{ObservedAt: now})
	if err == nil || !strings.Contains(err.Error(), "kafka/my-cluster") {
		t.Errorf("got %v", err)
	}
}

func TestWhatIsKnownOfABroker(t *testing.T) {
	t.Parallel()
	f := example()
	three := int64(3)
	for name, tc := range map[string]struct {
		broker     facts.Broker
		held       int64
		knownHeld  bool
		bytes      int64
		knownBytes bool
	}{
		"both sides report":               {f.Brokers[0], 3, true, 12_099, true},
		"only the metadata":               {f.Brokers[1], 3, true, 0, false},
		"nobody":                          {f.Brokers[2], 0, false, 0, false},
		"only the volumes":                {facts.Broker{Volumes: []facts.Volume{{Replicas: 2, Bytes: 5}}}, 2, true, 5, true},
		"the volumes hold what goes away": {facts.Broker{Replicas: &three, Volumes: []facts.Volume{{Replicas: 7}}}, 7, true, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if held, known := tc.broker.Held(); held != tc.held || known != tc.knownHeld {
				t.Errorf("held %d, %v", held, known)
			}
			if bytes, known := tc.broker.Bytes(); bytes != tc.bytes || known != tc.knownBytes {
				t.Errorf("bytes %d, %v", bytes, known)
			}
		})
	}
	if _, ok := f.Broker(3); !ok {
		t.Error("broker 3 is not found")
	}
	if _, ok := f.Broker(9); ok {
		t.Error("broker 9 is found")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(`{"observedAt":"2026-03-01T12:00:00Z","brokers":[{"id":1,"volumes":[{"id":0,"replicas":1,"bytes":5}]}]}`)
	f.Add(`null`)
	f.Fuzz(func(t *testing.T, text string) {
		got, err := facts.Decode(&corev1.ConfigMap{Data: map[string]string{facts.Key: text}})
		if err != nil {
			return
		}
		if got.Brokers == nil {
			t.Error("brokers that are not known were taken for none")
		}
		if _, err := facts.Encode("n", "c", got); err != nil {
			t.Errorf("what was read cannot be written: %v", err)
		}
	})
}
