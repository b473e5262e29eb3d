package cluster

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/sluice-kafka/sluice/internal/kafka"
	"github.com/sluice-kafka/sluice/internal/observed"
)

// hearingTime is how long a broker may take to show a change that the controller
// wrote. It answers DescribeConfigs from what it has replayed of the metadata log,
// which takes up to half a second on an idle machine and seconds on a busy one.
// After that time its answer is believed, and the change is made again.
const hearingTime = 30 * time.Second

// forAll is the resource of the options that are set for all brokers.
const forAll int32 = -1

// sentOptions are the changes of options that Kafka took and that its answers do
// not show yet: without them a look that comes soon after would repeat them, and
// one that comes after a change of mind would see nothing to take back.
type sentOptions struct {
	mu sync.Mutex
	// of a broker, or forAll, by the option.
	of map[int32]map[string]sentOption
}

type sentOption struct {
	kafka.ConfigOp
	at time.Time
}

// keep remembers changes that Kafka took.
func (s *sentOptions) keep(resource int32, at time.Time, ops []kafka.ConfigOp) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil {
		s.of = map[int32]map[string]sentOption{}
	}
	if s.of[resource] == nil {
		s.of[resource] = map[string]sentOption{}
	}
	for _, op := range ops {
		s.of[resource][op.Name] = sentOption{ConfigOp: op, at: at}
	}
}

// forget drops what was sent to a broker that has left.
func (s *sentOptions) forget(resource int32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.of, resource)
}

// complete adds to a look what was sent before it and does not show in it, and
// tells whether there was anything. What shows, or should have for long, is
// forgotten.
func (s *sentOptions) complete(seen *observed.Cluster) (late bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for resource, sent := range s.of {
		source, of := observed.SourceBroker, seen.Configs[resource]
		if resource == forAll {
			source, of = observed.SourceDefault, seen.Default
		}
		config, ok := of.Get()
		if !ok {
			continue
		}
		maps.DeleteFunc(sent, func(_ string, op sentOption) bool {
			return seen.At.Sub(op.at) > hearingTime || op.showsIn(config, source)
		})
		if len(sent) == 0 {
			delete(s.of, resource)
			continue
		}
		late = true
		config = maps.Clone(config)
		for name, op := range sent {
			config[name] = op.over(config[name], source)
		}
		if resource == forAll {
			seen.Default = observed.Seen(config)
		} else {
			seen.Configs[resource] = observed.Seen(config)
		}
	}
	return late
}

func (op sentOption) showsIn(config observed.Config, source observed.ConfigSource) bool {
	entry := config[op.Name]
	value, set := entry.Synonym(op.Name, source)
	// A sensitive value is never shown.
	return set != op.Delete && (op.Delete || value == op.Value || entry.Sensitive)
}

// over is an entry as it is going to be.
func (op sentOption) over(e observed.ConfigEntry, source observed.ConfigSource) observed.ConfigEntry {
	synonyms := slices.DeleteFunc(slices.Clone(e.Synonyms), func(s observed.ConfigSynonym) bool {
		return s.Source == source && s.Name == op.Name
	})
	if !op.Delete {
		// Sources rank by their numbers.
		at := slices.IndexFunc(synonyms, func(s observed.ConfigSynonym) bool { return s.Source >= source })
		if at < 0 {
			at = len(synonyms)
		}
		synonyms = slices.Insert(synonyms, at, observed.ConfigSynonym{Name: op.Name, Value: op.Value, Source: source})
	}
	e.Synonyms = synonyms
	if len(synonyms) > 0 {
		e.Value = synonyms[0].Value
	}
	return e
}
