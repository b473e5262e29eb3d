package topicplan

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/configdef"
)

// BrokerDefault leaves a number to the broker: num.partitions or
// default.replication.factor, by KIP-464.
const BrokerDefault = -1

// Wanted is what a resource asks of its topic.
type Wanted struct {
	// Partitions, or BrokerDefault.
	Partitions int32
	// Replicas of each partition, or BrokerDefault.
	Replicas int16
	// Internal tells that the topic is Kafka's own.
	Internal bool
	// Config as Kafka takes it, without what is left alone.
	Config map[string]string
	// Warnings about options that are set and left alone.
	Warnings []Problem

	scope scope
}

// WantedOf reads a resource of which the operator may alter some options. One with
// problems must not be acted on: admission refuses it, but it may be older than the
// rules. What is wrong with an option that is left alone is none.
func WantedOf(t *kafkav1.KafkaTopic, alterable Alterable) (Wanted, []Problem) {
	spec := t.Spec
	w := Wanted{
		Partitions: BrokerDefault, Replicas: BrokerDefault, Internal: internal(t.ClaimedName()),
		Config: make(map[string]string, len(spec.Config)), scope: scopeOf(t, alterable),
	}
	var problems []Problem
	if p := spec.Partitions; p != nil {
		if *p < 1 || *p > math.MaxInt32 {
			problems = append(problems, Problem{kafkav1.ReasonKafkaError, fmt.Sprintf(
				"spec.partitions: %d is no number of partitions: give 1 or more, or leave it out for the cluster's default", *p)})
		} else {
			w.Partitions = int32(*p)
		}
	}
	if r := spec.Replicas; r != nil {
		if *r < 1 || *r > math.MaxInt16 {
			problems = append(problems, Problem{kafkav1.ReasonKafkaError, fmt.Sprintf(
				"spec.replicas: %d is no number of replicas: give 1 to %d, or leave it out for the cluster's default", *r, math.MaxInt16)})
		} else {
			w.Replicas = int16(*r)
		}
	}
	if name := t.ClaimedName(); len(name) > configdef.MaxTextBytes {
		problems = append(problems, tooLong("spec.topicName", len(name)))
	}
	problems = append(problems, w.take(spec.Config)...)
	return w, problems
}

// take renders the options, but for those that are left alone.
func (w *Wanted) take(config kafkav1.Config) []Problem {
	var problems []Problem
	set := slices.Sorted(maps.Keys(config))
	w.Warnings = w.scope.warnings(set)
	for _, name := range set {
		if w.scope.leaves(name) {
			continue
		}
		if len(name) > configdef.MaxTextBytes { // and too long to be shown
			problems = append(problems, tooLong("spec.config: the name of an option", len(name)))
			continue
		}
		value, err := configdef.RenderValue(config[name].Raw)
		switch {
		case err != nil:
			problems = append(problems, Problem{valueReason(err), fmt.Sprintf("spec.config[%s]: %v", name, err)})
		case len(value) > configdef.MaxTextBytes:
			problems = append(problems, tooLong(fmt.Sprintf("spec.config[%s]", name), len(value)))
		default:
			w.Config[name] = value
		}
	}
	return problems
}

func tooLong(path string, bytes int) Problem {
	return Problem{kafkav1.ReasonKafkaError, fmt.Sprintf(
		"%s: Kafka is not asked for %d bytes, since a request holds %d of one text: make it shorter", path, bytes, configdef.MaxTextBytes)}
}

func valueReason(err error) string {
	if errors.Is(err, configdef.ErrNullValue) || errors.Is(err, configdef.ErrNumberRange) {
		return kafkav1.ReasonKafkaError
	}
	return kafkav1.ReasonInternalError
}
