package brokerconfig

import (
	"math"
	"strconv"
	"strings"
)

// unit is a name under which a longer time or the same one may be given.
type unit struct {
	name string
	// milliseconds of one.
	milliseconds int64
	// plain is Kafka's default under this name; empty where it has none.
	plain string
}

// synonyms are the options whose value comes from another option where they are
// not set, the first that is (brokerConfigSynonyms in Kafka's
// DynamicBrokerConfig, and its AbstractKafkaConfig). None of the others is
// dynamic.
var synonyms = map[string][]unit{
	"log.retention.ms":      {{"log.retention.minutes", 60_000, ""}, {"log.retention.hours", 3_600_000, "168"}},
	"log.roll.ms":           {{"log.roll.hours", 3_600_000, "168"}},
	"log.roll.jitter.ms":    {{"log.roll.jitter.hours", 3_600_000, "0"}},
	"log.flush.interval.ms": {{"log.flush.scheduler.interval.ms", 1, strconv.FormatInt(math.MaxInt64, 10)}},
}

// fromSynonym is what an option without a default comes to in the file.
func (f File) fromSynonym(name string) (string, bool) {
	for _, u := range synonyms[name] {
		value, ok := f.Options[u.name]
		if !ok {
			value = u.plain
		}
		n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
		switch {
		case err != nil:
			continue
		case n < 0: // for ever, in whatever unit
			return "-1", true
		}
		if n > math.MaxInt64/u.milliseconds {
			n = math.MaxInt64 / u.milliseconds
		}
		return strconv.FormatInt(n*u.milliseconds, 10), true
	}
	return "", false
}
