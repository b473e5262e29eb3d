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
// wrote. It answers DescribeConfigs and DescribeCluster from what it has replayed of the metadata log,
// which takes up to half a second on an idle machine and seconds on a busy one.
// After that time its answer is believed, and the change is made again.
const hearingTime = 30 * time.Second

// forAll is the resource of the options that are set for all brokers.
const forAll int32 = -1

// sentChanges are the changes that Kafka took and that its answers may not show yet: without them a look that comes soon after would repeat them, and
// one that comes after a change of mind would see nothing to take back.
type sentChanges struct {
	mu sync.Mutex
	// of a broker, or forAll, by the option.
	of map[int32]map[string]sentOption
	// left are the brokers that were unregistered.
	left map[int32]time.Time
}

type sentOption struct {
	kafka.ConfigOp
	at time.Time
}

// keep remembers changes that Kafka took.
func (s *sentChanges) keep(resource int32, at time.Time, ops []kafka.ConfigOp) {
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

// leave remembers that a broker was unregistered.
func (s *sentChanges) leave(broker int32, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.of, broker)
	if s.left == nil {
		s.left = map[int32]time.Time{}
	}
	s.left[broker] = at
}

// complete adds to a look what was sent before it and does not show in it, and
// tells whether there was anything. What shows, or should have for long, is
// forgotten.
func (s *sentChanges) complete(seen *observed.Cluster) (late bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	late = s.completeRegistration(seen)
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

// completeRegistration takes brokers out of a look that were unregistered before
// it. One that is not fenced has registered anew.
func (s *sentChanges) completeRegistration(seen *observed.Cluster) (late bool) {
	registration, ok := seen.Registration.Get()
	if !ok || len(s.left) == 0 {
		return false
	}
	fenced := map[int32]bool{}
	for _, b := range registration.Brokers {
		fenced[b.ID] = b.Fenced
	}
	maps.DeleteFunc(s.left, func(id int32, at time.Time) bool { return seen.At.Sub(at) > hearingTime || !fenced[id] })
	registration.Brokers = slices.DeleteFunc(slices.Clone(registration.Brokers), func(b observed.Broker) bool {
		_, left := s.left[b.ID]
		return left
	})
	seen.Registration = observed.Seen(registration)
	return len(s.left) > 0
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
