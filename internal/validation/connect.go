package validation

import apiv1 "github.com/sluice-kafka/sluice/api/v1"

// KafkaConnect judges a Connect cluster; old is nil on creation.
func KafkaConnect(connect, old *apiv1.KafkaConnect, _ Options) Result {
	return judge(connect, old, old != nil, func(c, _ *apiv1.KafkaConnect) []Finding {
		return run(podRules, podsOfConnect(c))
	})
}

// KafkaMirrorMaker2 judges a MirrorMaker 2 cluster; old is nil on creation.
func KafkaMirrorMaker2(mm2, old *apiv1.KafkaMirrorMaker2, _ Options) Result {
	return judge(mm2, old, old != nil, func(m, _ *apiv1.KafkaMirrorMaker2) []Finding {
		return run(podRules, podsOfMirrorMaker2(m))
	})
}
