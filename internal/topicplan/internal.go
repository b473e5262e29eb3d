package topicplan

import (
	"fmt"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
)

// internalTopics are those that Kafka makes and writes for itself
// (INTERNAL_TOPICS in org.apache.kafka.common.internals.Topic). Its controller
// lets anybody delete them, and with them the offsets of every consumer group or
// the state of every transaction.
var internalTopics = map[string]bool{
	"__consumer_offsets":  true,
	"__transaction_state": true,
	"__share_group_state": true,
}

// internal tells whether a topic is Kafka's own. Of such a topic only options
// that a resource names are changed. It is not deleted; not created, since Kafka
// gives it options, compaction above all, that it does not work without; and not
// grown, since a group or transaction finds its partition by the number of them
// (partitionFor in Kafka's GroupCoordinatorService and TransactionStateManager).
func internal(name string) bool { return internalTopics[name] }

func internalAbsent() Problem {
	return Problem{kafkav1.ReasonNotSupported,
		"this topic is Kafka's own, and Kafka creates it with the options that it needs when it is first used: " +
			"it will be looked at then. Delete this resource if there is nothing to be set on the topic"}
}

func internalGrowth(have, want int32) Problem {
	return Problem{kafkav1.ReasonNotSupported, fmt.Sprintf(
		"spec.partitions: this topic is Kafka's own, and with %d partitions instead of %d it would no longer find what it wrote. "+
			"Remove the line, or set it to %d", want, have, have)}
}
