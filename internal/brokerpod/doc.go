// Package brokerpod makes what Kubernetes has to hold for a Kafka cluster: the
// pod, the claims and the ConfigMap of each node, and the cluster's services and
// its PodDisruptionBudget. It is pure, and the same input gives the same objects.
package brokerpod
