package topicplan

import (
	"testing"

	"github.com/sluice-kafka/sluice/internal/configdef"
)

// Kafka shows what it made of a value when it parsed it.
func TestValuesAreComparedAsKafkaParsesThem(t *testing.T) {
	for name, test := range map[string]struct {
		kind          configdef.Type
		wanted, shown string
		differ        bool
	}{
		"leading zeros and blanks of a number":      {configdef.Long, " 0100 ", "100", false},
		"another number":                            {configdef.Long, "100", "1000", true},
		"a number beyond its range":                 {configdef.Int, "99999999999", "100", true},
		"trailing zeros of a fraction":              {configdef.Double, "0.50", "0.5", false},
		"a fraction without a zero in front":        {configdef.Double, ".5", "0.5", false},
		"a fraction with an exponent":               {configdef.Double, "5e-1", "0.5", false},
		"another fraction":                          {configdef.Double, "0.5", "0.55", true},
		"capitals of a boolean":                     {configdef.Boolean, "TRUE", "true", false},
		"another boolean":                           {configdef.Boolean, "true", "false", true},
		"blanks in a list":                          {configdef.List, "compact, delete ", "compact,delete", false},
		"another order in a list":                   {configdef.List, "delete,compact", "compact,delete", true},
		"no list and an empty one":                  {configdef.List, " ", "", false},
		"capitals of a text":                        {configdef.String, "Producer", "producer", true},
		"blanks around a text":                      {configdef.String, " producer ", "producer", false},
		"digits of an option of a type not known":   {configdef.Type(""), "0100", "100", true},
		"the same of an option of a type not known": {configdef.Type(""), "x", "x", false},
	} {
		t.Run(name, func(t *testing.T) {
			plan := Decide(wants(map[string]string{"o": test.wanted}),
				seenWith(map[string]Option{"o": {Value: test.shown, Type: test.kind, Dynamic: true}}), Memory{}, now)
			if differs := len(plan.Ops) > 0; differs != test.differ {
				t.Errorf("%q against %q: differs is %v, want %v", test.wanted, test.shown, differs, test.differ)
			}
		})
	}
}

func TestReplicasBelowTheMinimumInSync(t *testing.T) {
	minimum := func(value string, dynamic bool) map[string]Option {
		return map[string]Option{MinInSync: {Value: value, Type: configdef.Int, Dynamic: dynamic}}
	}
	none, err := ParseAlterable("NONE")
	if err != nil {
		t.Fatal(err)
	}
	leaving := func(w Wanted) Wanted { w.scope.alterable = none; return w }
	for name, test := range map[string]struct {
		wanted  Wanted
		options map[string]Option
		absent  bool
		want    string // a part of the warning
	}{
		"a topic's own minimum above its replicas":      {wanted: wants(map[string]string{MinInSync: "3"}), options: minimum("1", false), want: "which is 3 (in spec.config)"},
		"the cluster's minimum above its replicas":      {wanted: wants(nil), options: minimum("3", false), want: "which is 3 (the cluster's default)"},
		"the minimum that is wanted counts":             {wanted: wants(map[string]string{MinInSync: "2"}), options: minimum("3", false)},
		"as many as the minimum are enough":             {wanted: wants(nil), options: minimum("2", false)},
		"the replicas that are wanted count":            {wanted: Wanted{Partitions: BrokerDefault, Replicas: 3}, options: minimum("3", false)},
		"and count where they are fewer":                {wanted: Wanted{Partitions: BrokerDefault, Replicas: 1}, options: minimum("2", false), want: "factor of 1 is below"},
		"a minimum that is about to be removed":         {wanted: wants(nil), options: minimum("3", true)},
		"a minimum that somebody set and is left alone": {wanted: leaving(wants(nil)), options: minimum("3", true), want: "which is 3 (set on the topic)"},
		"a minimum that is not shown":                   {wanted: wants(nil)},
		"a minimum that is no number":                   {wanted: wants(map[string]string{MinInSync: "x"}), options: minimum("3", false)},
		"a new topic with its own minimum":              {wanted: Wanted{Partitions: BrokerDefault, Replicas: 1, Config: map[string]string{MinInSync: "2"}}, absent: true, want: "factor of 1"},
		"a new topic of the cluster's factor":           {wanted: wants(map[string]string{MinInSync: "2"}), absent: true},
	} {
		t.Run(name, func(t *testing.T) {
			seen := seenWith(test.options)
			if test.absent {
				seen = nil
			}
			var want []string
			if test.want != "" {
				want = []string{test.want}
			}
			wantWords(t, "warnings", Decide(test.wanted, seen, Memory{}, now).Warnings, want)
		})
	}
}
