package scaledown

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// named is how many brokers a condition says something of each.
const named = 10

// Message says for a condition which brokers do not go, why, and what to do. It
// is empty where none is held.
func (d Decision) Message() string {
	if len(d.Held) == 0 {
		return ""
	}
	texts := make([]string, 0, named)
	awaited := map[Awaits]bool{}
	for i, h := range d.Held {
		awaited[h.Awaits] = true
		if i < named {
			texts = append(texts, h.Message)
		}
	}
	if more := len(d.Held) - len(texts); more > 0 {
		texts = append(texts, "and "+counted(more, "more broker"))
	}
	message := "Nothing is removed while a broker that is to go is not known to be empty: " + strings.Join(texts, "; ") + "."
	for _, a := range mendable {
		if awaited[a.awaits] {
			message += " " + a.mend
		}
	}
	return message
}

// mendable is what a user can do, in the order in which it is said.
var mendable = []struct {
	awaits Awaits
	mend   string
}{
	{AwaitsDrain, "Move the replicas to brokers that stay (a KafkaRebalance in mode remove-brokers, or a reassignment), or set the replicas or roles of the pool back. " +
		"The annotation strimzi.io/skip-broker-scaledown-check: \"true\" on the Kafka removes brokers together with what they hold."},
	{AwaitsAnswer, "A broker that stays registered without being ready needs a look at its pod and its log; stopped, it is fenced, and can then be removed."},
	{AwaitsCordon, "Where a cordon does not come into effect, an event on the Kafka says what the broker answered."},
}

// message says of one held broker what it is that holds it.
func (in Input) message(h Held, l look, m mode) string {
	subject := "broker " + strconv.Itoa(int(h.ID))
	if h.LosesRole {
		subject += " (which is to be a controller only)"
	}
	return subject + " " + in.why(h, l, m)
}

func (in Input) why(h Held, l look, m mode) string {
	switch h.Awaits {
	case AwaitsDrain:
		return holds(h, l.holding.example)
	case AwaitsPartitions:
		return fmt.Sprintf("may hold replicas, for the partitions could not be listed (%v)", in.Seen.Partitions.Err())
	case AwaitsRegistration:
		return fmt.Sprintf("is empty, but whether it is fenced could not be seen (%v)", in.Seen.Registration.Err())
	case AwaitsFeatures:
		return fmt.Sprintf("is empty, but whether it can be cordoned could not be seen (features: %v)", in.Seen.Features.Err())
	case AwaitsCordon:
		return "is empty, but does not report all its log directories as cordoned yet"
	case AwaitsAnswer:
		return in.unanswered(l)
	case AwaitsSighting:
		return fmt.Sprintf("was seen empty%s, and has to be so still at %s", standing(m), clockText(h.Until))
	}
	return string(h.Awaits)
}

// holds says what a broker has.
func holds(h Held, example string) string {
	var parts []string
	if h.Replicas > 0 {
		text := "holds " + counted(h.Replicas, "replica")
		if bytes, known := h.Bytes.Get(); known {
			text += " (" + size(bytes) + ")"
		}
		parts = append(parts, text)
	}
	if h.Targets > 0 {
		parts = append(parts, "is the target of "+counted(h.Targets, "reassignment"))
	}
	return strings.Join(parts, " and ") + ", among them " + example
}

func (in Input) unanswered(l look) string {
	pod, exists := in.Pods[l.id]
	state := "its pod is ready"
	switch {
	case !exists:
		state = "it has no pod"
	case !pod.Ready:
		state = "its pod is not ready"
	}
	return fmt.Sprintf("is empty and not fenced, but does not say whether it is cordoned (%v); %s", l.view.logDirs[l.id].Err(), state)
}

// standing says why a look counts, where it is not for a cordon.
func standing(m mode) string {
	switch m {
	case open:
		return " (this Kafka, or its metadata version, cannot cordon it)"
	case fenced:
		return " (it is fenced or not registered)"
	}
	return ""
}

func clockText(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// counted is a number with its noun.
func counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

// size is a number of bytes with two significant digits, so that a text does not
// change with every record that is written.
func size(bytes int64) string {
	units := []string{"bytes", "kB", "MB", "GB", "TB", "PB", "EB"}
	step := uint64(1)
	for uint64(max(bytes, 0))/step >= 100 {
		step *= 10
	}
	value, unit := float64((uint64(max(bytes, 0))+step/2)/step*step), 0
	for value >= 1000 && unit < len(units)-1 {
		value /= 1000
		unit++
	}
	return strconv.FormatFloat(value, 'f', -1, 64) + " " + units[unit]
}
