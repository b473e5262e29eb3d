package controllers

import (
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/sluice-kafka/sluice/controllers/standalone"
	"github.com/sluice-kafka/sluice/controllers/topic"
	"github.com/sluice-kafka/sluice/internal/options"
)

// AddTopicOnly registers the topic controller for the one cluster of a topic-only
// Sluice.
func AddTopicOnly(mgr ctrl.Manager, opts options.TopicOnly) error {
	login, err := standalone.Login(opts.Login, mgr.GetAPIReader())
	if err != nil {
		return err
	}
	topics, err := topicOptions(opts.Topics)
	if err != nil {
		return err
	}
	topics.Standalone = true
	topics.Clusters = []topic.Cluster{{
		Name:             opts.ClusterName,
		Namespaces:       []string{opts.Namespace},
		BootstrapServers: opts.BootstrapServers,
		Unlabelled:       true,
		Login:            login,
		NoEngine:         topic.NoEngineTopicOnly,
	}}
	return topic.Add(mgr, topics, dialTopics(mgr, topics.Metrics, opts.ClientID))
}
