package rebalance

import (
	"fmt"
	"strings"

	"github.com/sluice-kafka/sluice/internal/observed"
)

// change is one call of ChangeReplicas on its way.
type change struct {
	factors map[string]int16
	// topics that were seen.
	topics map[string]observed.Topic
	// partitions of them for which something is to be planned.
	partitions []observed.Partition
	// begun counts the partitions, by topic, of which a reassignment towards the
	// factor is in flight or was begun.
	begun map[string]int
	// left says of partitions that stay as they are, by topic, why; errs is Kafka's
	// own first refusal.
	left map[string][]reason
	errs map[string]error

	started map[string]Started
}

// reason of some partitions.
type reason struct {
	partitions []int32
	why        string
}

// take sorts a topic's partitions into those that are well, those on their way and
// those to be planned.
func (c *change) take(topic observed.Topic, name string, earlier *recent) {
	factor := c.factors[name]
	for i := range topic.Partitions {
		p := &topic.Partitions[i]
		switch {
		case len(target(p)) == int(factor) && inFlight(p), earlier.has(p, factor):
			c.begin(name)
		case len(target(p)) != int(factor):
			c.partitions = append(c.partitions, *p)
		}
	}
}

func (c *change) begin(topic string) {
	if c.begun == nil {
		c.begun = map[string]int{}
	}
	c.begun[topic]++
}

// leave notes that a partition stays as it is.
func (c *change) leave(topic string, partition int32, why string) {
	if c.left == nil {
		c.left = map[string][]reason{}
	}
	list := c.left[topic]
	for i := range list {
		if list[i].why == why {
			list[i].partitions = append(list[i].partitions, partition)
			return
		}
	}
	c.left[topic] = append(list, reason{partitions: []int32{partition}, why: why})
}

// refuse notes Kafka's refusal.
func (c *change) refuse(topic string, partition int32, err error) {
	if c.errs == nil {
		c.errs = map[string]error{}
	}
	if c.errs[topic] == nil {
		c.errs[topic] = err
	}
	c.leave(topic, partition, err.Error())
}

// outcome is what is answered of a topic that was seen.
func (c *change) outcome(name string) Started {
	message := sentence(c.left[name])
	if message == "" || c.begun[name] > 0 {
		return Started{Session: session{topicID: c.topics[name].ID, factor: c.factors[name]}.String(), Message: message}
	}
	if err := c.errs[name]; err != nil {
		return Started{Err: fmt.Errorf("change the replication factor of topic %q to %d: %w", name, c.factors[name], err)}
	}
	return Started{Err: fmt.Errorf("change the replication factor of topic %q to %d: %w: %s", name, c.factors[name], ErrLeftOut, message)}
}

// maxReasons bounds how many a message gives, and maxListed how many partitions or
// brokers it names for each.
const maxReasons, maxListed = 4, 10

func sentence(reasons []reason) string {
	var said []string
	for i, r := range reasons {
		if i == maxReasons {
			said = append(said, fmt.Sprintf("%d more reasons", len(reasons)-i))
			break
		}
		said = append(said, listed("partition", r.partitions)+": "+r.why)
	}
	return strings.Join(said, "; ")
}

// listed names things by their numbers, such as "partitions 0, 1 and 9 more".
func listed(noun string, ids []int32) string {
	if len(ids) == 1 {
		return fmt.Sprintf("%s %d", noun, ids[0])
	}
	shown := ids[:min(len(ids), maxListed)]
	text := noun + "s " + strings.Trim(strings.ReplaceAll(fmt.Sprint(shown), " ", ", "), "[]")
	if more := len(ids) - len(shown); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
