package configdef

import (
	"errors"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	const version = "4.3.1"
	for name, tc := range map[string]struct {
		option, value string
		broker        bool
		version       string
		want          error
		text          string
	}{
		"a whole number":                          {option: "retention.ms", value: "604800000"},
		"blanks around it":                        {option: "retention.ms", value: " 0100\t"},
		"a plus sign":                             {option: "retention.ms", value: "+5"},
		"a duration":                              {option: "retention.ms", value: "7d", want: ErrType, text: "a whole number of milliseconds, -1 or more: write 604800000"},
		"a duration that overflows":               {option: "retention.ms", value: "999999999999w", want: ErrType, text: "-1 or more"},
		"a size":                                  {option: "segment.bytes", value: "512MiB", want: ErrType, text: "write 536870912"},
		"a size beyond the type":                  {option: "segment.bytes", value: "4Gi", want: ErrType, text: "a whole number of bytes from 1048576 to 2147483647"},
		"a fraction that is a whole number":       {option: "retention.ms", value: "3.0", want: ErrType, text: "write 3"},
		"an exponent":                             {option: "retention.ms", value: "1e3", want: ErrType, text: "write 1000"},
		"nothing":                                 {option: "retention.ms", value: "", want: ErrType},
		"a blank beyond ASCII":                    {option: "retention.ms", value: "\u00a05", want: ErrType},
		"below the least":                         {option: "retention.ms", value: "-2", want: ErrRange, text: "-1 or more"},
		"the least":                               {option: "retention.ms", value: "-1"},
		"more than 64 bits":                       {option: "retention.ms", value: "9223372036854775808", want: ErrType},
		"a segment too small since 4.1":           {option: "segment.bytes", value: "1000", want: ErrRange, text: "from 1048576"},
		"and large enough before":                 {option: "segment.bytes", value: "1000", version: "4.0.2"},
		"more than 32 bits":                       {option: "segment.bytes", value: "2147483648", want: ErrType},
		"a level among a few":                     {option: "compression.gzip.level", value: "09"},
		"a level that is not":                     {option: "compression.gzip.level", value: "0", want: ErrRange, text: "one of -1, 1, 2"},
		"a double":                                {option: "min.cleanable.dirty.ratio", value: "0.50"},
		"a double with Java's suffix":             {option: "min.cleanable.dirty.ratio", value: ".5f"},
		"a double above the most":                 {option: "min.cleanable.dirty.ratio", value: "1.1", want: ErrRange, text: "a number from 0 to 1"},
		"no double":                               {option: "min.cleanable.dirty.ratio", value: "0,5", want: ErrType},
		"what only Go takes for infinite":         {option: "min.cleanable.dirty.ratio", value: "inf", want: ErrType},
		"a boolean in capitals":                   {option: "preallocate", value: "TRUE"},
		"a word for a boolean":                    {option: "preallocate", value: "yes", want: ErrType, text: "true or false: write true"},
		"a list":                                  {option: "cleanup.policy", value: "compact , delete"},
		"a typo in a list":                        {option: "cleanup.policy", value: "compacted", want: ErrRange, text: `"compacted" is none of compact, delete: write compact`},
		"a list item in capitals":                 {option: "cleanup.policy", value: "Compact", want: ErrRange},
		"an item twice":                           {option: "cleanup.policy", value: "delete,delete", want: ErrRange, text: "once"},
		"which 4.1 let through":                   {option: "cleanup.policy", value: "delete,delete", version: "4.1.2"},
		"an empty list":                           {option: "cleanup.policy", value: " "},
		"a superfluous comma":                     {option: "cleanup.policy", value: "delete,", want: ErrRange},
		"a superfluous comma among free items":    {option: "metric.reporters", value: "a.B,", broker: true, want: ErrRange, text: "comma"},
		"throttled replicas":                      {option: "leader.replication.throttled.replicas", value: "0:1,1:2"},
		"all replicas":                            {option: "leader.replication.throttled.replicas", value: "*"},
		"throttled replicas without a broker":     {option: "leader.replication.throttled.replicas", value: "0", want: ErrRange, text: "partition:broker"},
		"a text among a few":                      {option: "compression.type", value: " zstd "},
		"a text in the wrong case":                {option: "compression.type", value: "ZSTD", want: ErrRange, text: "write zstd"},
		"a text where the case does not matter":   {option: "group.consumer.migration.policy", value: "Upgrade", broker: true},
		"a text far from any":                     {option: "compression.type", value: "brotli", want: ErrRange, text: "one of"},
		"a text that must not be empty":           {option: "remote.log.storage.manager.impl.prefix", value: " ", broker: true, want: ErrRange, text: "not empty"},
		"any text":                                {option: "broker.rack", value: "", broker: true},
		"a class":                                 {option: "principal.builder.class", value: "com.example.Builder", broker: true},
		"a class without a name":                  {option: "principal.builder.class", value: "", broker: true, want: ErrType, text: "Java class"},
		"a number of a broker":                    {option: "num.partitions", value: "abc", broker: true, want: ErrType, text: "a whole number from 1 to 2147483647"},
		"a number without a least":                {option: "max.connections.per.ip", value: "-1", broker: true, want: ErrRange},
		"an instant of hours":                     {option: "log.retention.hours", value: "7d", broker: true, want: ErrType, text: "write 168"},
		"a short number":                          {option: "offsets.topic.replication.factor", value: "32768", broker: true, want: ErrType, text: "to 32767"},
		"a guess that would be refused is spared": {option: "segment.bytes", value: "1k", want: ErrType, text: "2147483647"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			find, v := Topic, version
			if tc.broker {
				find = Broker
			}
			if tc.version != "" {
				v = tc.version
			}
			o, ok := find(v, tc.option)
			if !ok {
				t.Fatalf("Kafka %s has no option %s", v, tc.option)
			}
			err := o.Check(tc.value)
			if !errors.Is(err, tc.want) || (err == nil) != (tc.want == nil) {
				t.Fatalf("got %v, want %v", err, tc.want)
			}
			if err != nil && !strings.Contains(err.Error(), tc.text) {
				t.Errorf("it says %q, want %q", err, tc.text)
			}
			if err != nil && strings.Contains(tc.text, "2147483647") && strings.Contains(err.Error(), "write") {
				t.Errorf("it proposes what Kafka refuses: %q", err)
			}
		})
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		name, want string
	}{
		"a letter too few":        {"retention.m", "retention.ms"},
		"two letters exchanged":   {"retnetion.ms", "retention.ms"},
		"another case":            {"Retention.MS", "retention.ms"},
		"another word":            {"retention.hours", ""},
		"nothing like it":         {"x", ""},
		"no name at all":          {strings.Repeat("retention.ms", 100), ""},
		"a short name is too far": {"abc", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, ok := Nearest(tc.name, TopicNames())
			if got != tc.want || ok != (tc.want != "") {
				t.Errorf("got %q, %v", got, ok)
			}
		})
	}
}

// FuzzCheck gives any text to any option: the answer comes, it is a kind of
// fault or none, and what it proposes Kafka would take.
func FuzzCheck(f *testing.F) {
	for _, seed := range []string{"7d", "compact,,delete", "1e400", "0x1p3", "NaN", "\x00", "*", "0:1", "ſ", "９"} {
		f.Add("retention.ms", seed)
		f.Add("cleanup.policy", seed)
		f.Add("min.cleanable.dirty.ratio", seed)
		f.Add("leader.replication.throttled.replicas", seed)
	}
	f.Fuzz(func(t *testing.T, name, value string) {
		for _, find := range []func(version, name string) (Option, bool){Topic, Broker} {
			o, ok := find(Latest(), name)
			if !ok {
				continue
			}
			err := o.Check(value)
			if err != nil && !errors.Is(err, ErrType) && !errors.Is(err, ErrRange) {
				t.Fatalf("%q: a fault of no kind: %v", value, err)
			}
			if !o.Type.Same(value, value) {
				t.Fatalf("%q is not the same as itself", value)
			}
			if err == nil && o.Check(" "+value+"\t") != nil {
				t.Fatalf("blanks around %q make it wrong", value)
			}
		}
		Nearest(name, TopicNames())
	})
}
