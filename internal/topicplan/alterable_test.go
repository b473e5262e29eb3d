package topicplan

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
)

func TestParseAlterable(t *testing.T) {
	for name, test := range map[string]struct {
		list            string
		allows, forbids []string
		wantErr         string
	}{
		"nothing is all":               {list: "", allows: []string{"retention.ms", "x"}},
		"blanks are nothing":           {list: " \t", allows: []string{"retention.ms"}},
		"all in any case":              {list: " All ", allows: []string{"retention.ms"}},
		"none in any case":             {list: "none", forbids: []string{"retention.ms", optionLeaderThrottled}},
		"a list":                       {list: "retention.ms,cleanup.policy", allows: []string{"retention.ms", "cleanup.policy"}, forbids: []string{"segment.bytes", optionLeaderThrottled}},
		"case and blanks in a list":    {list: " Retention.MS ,\n cleanup. policy ,", allows: []string{"retention.ms", "cleanup.policy"}, forbids: []string{"segment.bytes"}},
		"all beside an option":         {list: "ALL,retention.ms", wantErr: "stand alone"},
		"none beside an option":        {list: "retention.ms, none", wantErr: "stand alone"},
		"a list of nothing":            {list: " , ", wantErr: "names no option"},
		"an option whose name has all": {list: "all.ms", allows: []string{"all.ms"}, forbids: []string{"all"}},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := ParseAlterable(test.list)
			if (err != nil) != (test.wantErr != "") || err != nil && !strings.Contains(err.Error(), test.wantErr) {
				t.Fatalf("error %v, want one with %q", err, test.wantErr)
			}
			if err != nil {
				return
			}
			for _, o := range test.allows {
				if !a.Allows(o) {
					t.Errorf("%s may not be altered", o)
				}
			}
			for _, o := range test.forbids {
				if a.Allows(o) {
					t.Errorf("%s may be altered", o)
				}
			}
		})
	}
}

// resource builds a KafkaTopic from options in JSON.
func resource(options map[string]string, edits ...func(*kafkav1.KafkaTopic)) *kafkav1.KafkaTopic {
	kt := &kafkav1.KafkaTopic{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "orders"}}
	kt.Spec.Config = kafkav1.Config{}
	for name, json := range options {
		kt.Spec.Config[name] = apiextensionsv1.JSON{Raw: []byte(json)}
	}
	for _, edit := range edits {
		edit(kt)
	}
	return kt
}

func unmanaging(list string) func(*kafkav1.KafkaTopic) {
	return func(kt *kafkav1.KafkaTopic) {
		kt.Annotations = map[string]string{kafkav1.AnnotationUnmanagedConfig: list}
	}
}

func TestWhatIsLeftAlone(t *testing.T) {
	dynamic := func(value string) Option { return Option{Value: value, Dynamic: true} }
	for name, test := range map[string]struct {
		topic     *kafkav1.KafkaTopic
		alterable string
		seen      map[string]Option
		// wantCreated are the options given at creation.
		wantCreated  map[string]string
		wantOps      []ConfigOp
		wantWarnings []string
	}{
		"everything may be altered": {
			topic: resource(map[string]string{"a": "1"}), seen: map[string]Option{"b": dynamic("2")},
			wantCreated: map[string]string{"a": "1"},
			wantOps:     []ConfigOp{{Name: "a", Value: "1"}, {Name: "b", Delete: true}},
		},
		"nothing may be altered": {
			topic: resource(map[string]string{"a": "1", "b": "2"}), alterable: "NONE", seen: map[string]Option{"b": dynamic("3"), "c": dynamic("4")},
			wantWarnings: []string{"a, b"},
		},
		"one option may be altered": {
			topic: resource(map[string]string{"a": "1", "b": "2"}), alterable: "a,c", seen: map[string]Option{"b": dynamic("3"), "c": dynamic("4"), "d": dynamic("5")},
			wantCreated:  map[string]string{"a": "1"},
			wantOps:      []ConfigOp{{Name: "a", Value: "1"}, {Name: "c", Delete: true}},
			wantWarnings: []string{"b is left"},
		},
		"what a user leaves to Kafka": {
			topic: resource(map[string]string{"a": "1"}, unmanaging(" B,, c")), seen: map[string]Option{"b": dynamic("3"), "d": dynamic("5")},
			wantCreated: map[string]string{"a": "1"},
			wantOps:     []ConfigOp{{Name: "a", Value: "1"}, {Name: "d", Delete: true}},
		},
		"what a user both sets and leaves to Kafka is not set, not even at creation": {
			topic: resource(map[string]string{"a": "1"}, unmanaging("a")), seen: map[string]Option{"a": dynamic("3")},
			wantWarnings: []string{"leaves a alone"},
		},
		"what is left alone may be no value at all": {
			topic: resource(map[string]string{"a": "null", "b": `{"c":1}`}, unmanaging("a")), alterable: "NONE",
			wantWarnings: []string{"leaves a alone", "so b is"},
		},
		"the throttles of a mover, which may not be altered": {
			topic: resource(map[string]string{optionLeaderThrottled: `"*"`}), alterable: "a", seen: map[string]Option{optionFollowerThrottled: dynamic("*")},
			wantWarnings: []string{optionLeaderThrottled},
		},
		"many options are not all listed": {
			topic: resource(map[string]string{
				"a": "1", "b": "1", "c": "1", "d": "1", "e": "1", "f": "1", "g": "1", "h": "1", "i": "1", "j": "1", "k": "1",
				"l": "1", "m": "1", "n": "1", "o": "1", "p": "1", "q": "1", "r": "1", "s": "1", "t": "1", "u": "1", "v": "1",
			}), alterable: "none",
			wantWarnings: []string{"t and 2 more"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			alterable, err := ParseAlterable(test.alterable)
			if err != nil {
				t.Fatal(err)
			}
			w, problems := WantedOf(test.topic, alterable)
			if len(problems) > 0 {
				t.Fatalf("problems: %+v", problems)
			}
			if !maps.Equal(w.Config, test.wantCreated) {
				t.Errorf("created with %v, want %v", w.Config, test.wantCreated)
			}
			wantWords(t, "warnings at creation", Decide(w, nil, Memory{}, now).Warnings, test.wantWarnings)
			plan := Decide(w, seenWith(test.seen), Memory{}, now)
			if !slices.Equal(plan.Ops, test.wantOps) {
				t.Errorf("changes: %+v, want %+v", plan.Ops, test.wantOps)
			}
			wantWords(t, "warnings", plan.Warnings, test.wantWarnings)
		})
	}
}

func TestValuesThatAreNone(t *testing.T) {
	for name, test := range map[string]struct{ json, wantReason string }{
		"null":                    {"null", kafkav1.ReasonKafkaError},
		"nothing":                 {"", kafkav1.ReasonKafkaError},
		"a map":                   {`{"a":1}`, kafkav1.ReasonInternalError},
		"a list in a list":        {`[["a"]]`, kafkav1.ReasonInternalError},
		"null in a list":          {`["a",null]`, kafkav1.ReasonInternalError},
		"what is no JSON":         {`{`, kafkav1.ReasonInternalError},
		"a number without an end": {"1e999999999", kafkav1.ReasonKafkaError},
	} {
		t.Run(name, func(t *testing.T) {
			_, problems := WantedOf(resource(map[string]string{"a": test.json, "b": "1"}), Alterable{})
			if len(problems) != 1 || problems[0].Reason != test.wantReason || !strings.Contains(problems[0].Message, "spec.config[a]") {
				t.Errorf("problems: %+v, want one of the reason %s", problems, test.wantReason)
			}
		})
	}
}

func TestValuesAreRenderedForKafka(t *testing.T) {
	w, problems := WantedOf(resource(map[string]string{
		"large": "1e6", "fraction": "5e-1", "negative": "-1", "truth": "true", "text": `"7"`, "list": `["compact","delete",3,false]`, "empty": `""`, "none": "[]",
	}), Alterable{})
	want := map[string]string{
		"large": "1000000", "fraction": "0.5", "negative": "-1", "truth": "true", "text": "7", "list": "compact,delete,3,false", "empty": "", "none": "",
	}
	if !maps.Equal(w.Config, want) || len(problems) > 0 {
		t.Errorf("rendered as %v with problems %v, want %v", w.Config, problems, want)
	}
}

func TestNumbersOutOfRangeAreProblems(t *testing.T) {
	for _, n := range []int64{0, -1, 1 << 40} {
		w, problems := WantedOf(resource(nil, func(kt *kafkav1.KafkaTopic) { kt.Spec.Partitions, kt.Spec.Replicas = &n, &n }), Alterable{})
		if len(problems) != 2 || w.Partitions != BrokerDefault || w.Replicas != BrokerDefault {
			t.Errorf("%d: wanted %+v with problems %+v, want two problems", n, w, problems)
		}
	}
}

// Kafka closes the connection on a request with a longer text, and with it goes what
// was asked for other topics.
func TestTextsThatNoRequestCanHoldAreProblems(t *testing.T) {
	long := strings.Repeat("x", 32768)
	for name, test := range map[string]struct {
		config   map[string]string
		edit     func(*kafkav1.KafkaTopic)
		wantPath string
	}{
		"as much as fits":              {config: map[string]string{"a": strconv.Quote(long[1:])}},
		"a value":                      {config: map[string]string{"a": strconv.Quote(long), "b": "1"}, wantPath: "spec.config[a]"},
		"a value of more bytes":        {config: map[string]string{"a": strconv.Quote(strings.Repeat("é", 16384))}, wantPath: "spec.config[a]"},
		"a list":                       {config: map[string]string{"a": `["` + long[:20000] + `","` + long[:20000] + `"]`}, wantPath: "spec.config[a]"},
		"an option":                    {config: map[string]string{long: "1"}, wantPath: "spec.config"},
		"a name":                       {edit: func(kt *kafkav1.KafkaTopic) { kt.Spec.TopicName = &long }, wantPath: "spec.topicName"},
		"a value that is left alone":   {config: map[string]string{"a": strconv.Quote(long)}, edit: unmanaging("a")},
		"an option that is left alone": {config: map[string]string{long: "1"}, edit: unmanaging(long)},
	} {
		t.Run(name, func(t *testing.T) {
			edit := test.edit
			if edit == nil {
				edit = func(*kafkav1.KafkaTopic) {}
			}
			_, problems := WantedOf(resource(test.config, edit), Alterable{})
			if test.wantPath == "" && len(problems) > 0 || test.wantPath != "" && len(problems) != 1 {
				t.Fatalf("%d problems", len(problems))
			}
			if len(problems) == 1 && (problems[0].Reason != kafkav1.ReasonKafkaError || !strings.HasPrefix(problems[0].Message, test.wantPath+": ") ||
				!strings.Contains(problems[0].Message, "32767") || len(problems[0].Message) > 500) {
				t.Errorf("problem %s: %.500s", problems[0].Reason, problems[0].Message)
			}
		})
	}
}
