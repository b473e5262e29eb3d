package topic

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/kafka"
)

// wantsStrimzi tells whether a Kafka asks for Strimzi's own topic operator.
func wantsStrimzi(k *kafkav1.Kafka) bool {
	return k.Spec.EntityOperator != nil && k.Spec.EntityOperator.TopicOperator != nil
}

// standing is what becomes of the topics of a Kafka.
type standing int

const (
	// forget them: the Kafka is gone, or about to be.
	forget standing = iota
	// letGo of them: the Kafka is not handed over any more.
	letGo
	// leave them to others.
	leave
	// serve them.
	serve
)

// standingOf decides what becomes of the topics of a Kafka, nil if it is gone, and
// why somebody else looks after them. byTable tells that an entry of the table of
// external clusters has its name and namespace, podSets are those from which Strimzi
// runs it.
func standingOf(k *kafkav1.Kafka, byTable bool, podSets []string) (standing, *obstacle) {
	switch {
	case k == nil || k.DeletionTimestamp != nil:
		return forget, nil
	case !k.TopicsHandedOver():
		return letGo, nil
	case byTable:
		// Which of the two is meant cannot be known, and the entry was there first:
		// nothing changes for the topics of its other namespaces.
		return leave, &obstacle{reason: reasonServedByTable, message: fmt.Sprintf(
			"an entry named %s of the chart's externalClusters serves the namespace %s: the topics of this Kafka are worked on through that entry alone. "+
				"Take the namespace out of the entry, or the annotation %s off this Kafka", k.Name, k.Namespace, kafkav1.AnnotationSluiceTopics)}
	case wantsStrimzi(k) && len(podSets) > 0:
		return leave, &obstacle{reason: reasonStandingBack, message: fmt.Sprintf(
			"Strimzi runs this cluster from the StrimziPodSets %s, and spec.entityOperator.topicOperator has it look after the topics: they are left to Strimzi. "+
				"Take spec.entityOperator.topicOperator away to have Sluice do it", strings.Join(podSets, ", "))}
	}
	return serve, nil
}

// clusterOf reads off a Kafka how its topics are worked on, and what that waits for.
func clusterOf(k *kafkav1.Kafka) (Cluster, *obstacle) {
	name := client.ObjectKeyFromObject(k)
	cluster := Cluster{Name: k.Name, Namespaces: []string{k.Namespace}, Kafka: &name, UID: k.UID}
	if !builtinEngine(k) {
		cluster.NoEngine = noEngineCruiseControl
	}
	if secret := k.Annotations[kafkav1.AnnotationTopicsCredentials]; secret != "" {
		cluster.Credentials = &key{Namespace: k.Namespace, Name: secret}
	}
	listener, waits := listenerOf(k)
	if waits != nil {
		return cluster, waits
	}
	i := slices.IndexFunc(k.Status.Listeners, func(s kafkav1.ListenerStatus) bool { return s.Name == listener.Name })
	if i < 0 || k.Status.Listeners[i].BootstrapServers == "" {
		return cluster, &obstacle{reason: reasonAwaitsStatus, awaited: true, message: fmt.Sprintf(
			"status.listeners does not tell yet where the listener %s is reached: the topics wait until whoever runs this Kafka has filled it in", listener.Name)}
	}
	status := k.Status.Listeners[i]
	cluster.BootstrapServers = strings.Split(status.BootstrapServers, ",")
	if listener.TLS {
		cluster.Security.TLS = &kafka.TLS{CA: []byte(strings.Join(status.Certificates, "\n"))}
	}
	return cluster, nil
}

// listenerOf is the listener that topics are worked on through.
func listenerOf(k *kafkav1.Kafka) (kafkav1.KafkaListener, *obstacle) {
	named := k.Annotations[kafkav1.AnnotationTopicsListener]
	var names []string
	for _, l := range k.Spec.Kafka.Listeners {
		if l.Name == named || named == "" && l.Type == kafkav1.ListenerInternal {
			return l, nil
		}
		names = append(names, l.Name)
	}
	there := "it has none"
	if len(names) > 0 {
		there = "it has " + strings.Join(names, ", ")
	}
	if named != "" {
		return kafkav1.KafkaListener{}, &obstacle{reason: reasonNoListener, message: fmt.Sprintf(
			"the annotation %s names the listener %s, and spec.kafka.listeners has no such one (%s): correct the annotation",
			kafkav1.AnnotationTopicsListener, named, there)}
	}
	return kafkav1.KafkaListener{}, &obstacle{reason: reasonNoListener, message: fmt.Sprintf(
		"spec.kafka.listeners has no listener of type internal (%s): add one, or name another in the annotation %s",
		there, kafkav1.AnnotationTopicsListener)}
}

// builtinEngine tells whether Sluice's own engine changes replication factors.
func builtinEngine(k *kafkav1.Kafka) bool {
	if engine := k.Annotations[kafkav1.AnnotationRebalanceEngine]; engine != "" {
		return engine == kafkav1.EngineBuiltin
	}
	return k.Spec.CruiseControl == nil
}
