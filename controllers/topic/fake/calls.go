package fake

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/sluice-kafka/sluice/internal/kafka"
	"github.com/sluice-kafka/sluice/internal/observed"
)

// Names of the calls, as Calls and TopicErrs use them.
const (
	DescribeTopics   = "DescribeTopics"
	DescribeConfigs  = "DescribeTopicConfigs"
	CreateTopics     = "CreateTopics"
	CreatePartitions = "CreatePartitions"
	AlterConfigs     = "AlterTopicConfigs"
	DeleteTopics     = "DeleteTopics"
	BrokerOptions    = "BrokerOptions"
	DescribeCluster  = "DescribeCluster"
	Reassignments    = "Reassignments"
)

// Defaults of the cluster's brokers.
const (
	DefaultPartitions = 1
	DefaultReplicas   = 1
)

// types of the options that tests use; others are strings.
var types = map[string]kafka.ConfigType{
	"retention.ms":              kafka.ConfigTypeLong,
	"preallocate":               kafka.ConfigTypeBoolean,
	"cleanup.policy":            kafka.ConfigTypeList,
	"min.cleanable.dirty.ratio": kafka.ConfigTypeDouble,
	minInSync:                   kafka.ConfigTypeInt,
}

const minInSync = "min.insync.replicas"

// minInSync is what is in effect for a topic of these options.
func (a *Admin) minInSync(config map[string]string) string {
	return cmp.Or(config[minInSync], a.MinInSync, "1")
}

// DescribeTopics implements the controller's Admin.
func (a *Admin) DescribeTopics(ctx context.Context, names []string) (map[string]kafka.TopicDescription, error) {
	err := a.begin(ctx, DescribeTopics, names, &a.NextDescribeTopicsErr)
	defer a.mu.Unlock()
	if err != nil {
		return nil, err
	}
	answer := map[string]kafka.TopicDescription{}
	for _, name := range names {
		t, ok := a.topics[name]
		shown, overridden := a.Shown[name]
		switch {
		case a.topicErr(DescribeTopics, name) != nil:
			answer[name] = kafka.TopicDescription{Err: a.topicErr(DescribeTopics, name)}
		case overridden:
			answer[name] = shown
		case !ok:
			answer[name] = kafka.TopicDescription{Err: ErrUnknownTopic}
		default:
			answer[name] = Description(t)
		}
	}
	return answer, nil
}

// Description is how a topic is shown.
func Description(t Topic) kafka.TopicDescription {
	d := kafka.TopicDescription{ID: t.ID}
	for i := range t.Partitions {
		p := kafka.Partition{ID: i}
		for r := range t.Replicas {
			p.Replicas = append(p.Replicas, int32(r))
		}
		d.Partitions = append(d.Partitions, p)
	}
	return d
}

// DescribeTopicConfigs implements the controller's Admin.
func (a *Admin) DescribeTopicConfigs(ctx context.Context, names []string, options ...string) (map[string]kafka.TopicConfig, error) {
	err := a.begin(ctx, DescribeConfigs, names, &a.NextDescribeConfigsErr)
	defer a.mu.Unlock()
	if err != nil {
		return nil, err
	}
	answer := map[string]kafka.TopicConfig{}
	for _, name := range names {
		t, ok := a.topics[name]
		if err := a.topicErr(DescribeConfigs, name); err != nil {
			answer[name] = kafka.TopicConfig{Err: err}
			continue
		}
		if !ok {
			answer[name] = kafka.TopicConfig{Err: ErrUnknownTopic}
			continue
		}
		c := kafka.TopicConfig{Entries: map[string]kafka.ConfigEntry{
			"retention.ms": {Value: "604800000", Type: kafka.ConfigTypeLong},
			"preallocate":  {Value: "false", Type: kafka.ConfigTypeBoolean},
			minInSync:      {Value: a.minInSync(nil), Type: kafka.ConfigTypeInt},
		}}
		config := t.Config
		if shown, ok := a.ShownConfigs[name]; ok {
			config = shown
		}
		for option, value := range config {
			c.Entries[option] = kafka.ConfigEntry{Value: value, Type: types[option], Dynamic: true}
		}
		if len(options) > 0 {
			maps.DeleteFunc(c.Entries, func(option string, e kafka.ConfigEntry) bool {
				return !e.Dynamic && !slices.Contains(options, option)
			})
		}
		answer[name] = c
	}
	return answer, nil
}

// CreateTopics implements the controller's Admin.
func (a *Admin) CreateTopics(ctx context.Context, topics []kafka.NewTopic) (map[string]kafka.CreatedTopic, error) {
	var names []string
	for _, t := range topics {
		names = append(names, t.Name)
	}
	err := a.begin(ctx, CreateTopics, names, &a.NextCreateTopicsErr)
	defer a.mu.Unlock()
	if err != nil {
		return nil, err
	}
	answer := map[string]kafka.CreatedTopic{}
	for _, n := range topics {
		if err := a.topicErr(CreateTopics, n.Name); err != nil {
			answer[n.Name] = kafka.CreatedTopic{Err: err}
			continue
		}
		if _, ok := a.topics[n.Name]; ok {
			answer[n.Name] = kafka.CreatedTopic{Err: ErrTopicExists}
			continue
		}
		t := Topic{ID: a.newID(), Partitions: DefaultPartitions, Replicas: DefaultReplicas, Config: map[string]string{}}
		if n.Partitions > 0 {
			t.Partitions = n.Partitions
		}
		if n.ReplicationFactor > 0 {
			t.Replicas = n.ReplicationFactor
		}
		for option, value := range n.Config {
			t.Config[option] = a.Normalise(option, value)
		}
		a.topics[n.Name] = t
		answer[n.Name] = kafka.CreatedTopic{
			ID: t.ID, Partitions: t.Partitions, ReplicationFactor: t.Replicas, MinInSync: a.minInSync(t.Config),
		}
	}
	return answer, nil
}

// CreatePartitions implements the controller's Admin.
func (a *Admin) CreatePartitions(ctx context.Context, growth []kafka.PartitionGrowth) (map[string]error, error) {
	var names []string
	for _, g := range growth {
		names = append(names, g.Name)
	}
	err := a.begin(ctx, CreatePartitions, names, &a.NextCreatePartitionsErr)
	defer a.mu.Unlock()
	if err != nil {
		return nil, err
	}
	answer := map[string]error{}
	for _, g := range growth {
		t, ok := a.topics[g.Name]
		switch {
		case a.topicErr(CreatePartitions, g.Name) != nil:
			answer[g.Name] = a.topicErr(CreatePartitions, g.Name)
		case !ok:
			answer[g.Name] = ErrUnknownTopic
		case g.Total <= t.Partitions:
			answer[g.Name] = ErrInvalidPartitions
		default:
			answer[g.Name] = nil
			t.Partitions = g.Total
			a.topics[g.Name] = t
		}
	}
	return answer, nil
}

// AlterTopicConfigs implements the controller's Admin.
func (a *Admin) AlterTopicConfigs(ctx context.Context, changes []kafka.TopicConfigChange) (map[string]error, error) {
	var names []string
	for _, c := range changes {
		names = append(names, c.Name)
	}
	err := a.begin(ctx, AlterConfigs, names, &a.NextAlterConfigsErr)
	defer a.mu.Unlock()
	if err != nil {
		return nil, err
	}
	answer := map[string]error{}
	for _, c := range changes {
		t, ok := a.topics[c.Name]
		if err := a.topicErr(AlterConfigs, c.Name); err != nil || !ok {
			answer[c.Name] = err
			if !ok {
				answer[c.Name] = ErrUnknownTopic
			}
			continue
		}
		t.Config = maps.Clone(t.Config)
		if t.Config == nil {
			t.Config = map[string]string{}
		}
		for _, op := range c.Ops {
			if op.Delete {
				delete(t.Config, op.Name)
			} else {
				t.Config[op.Name] = a.Normalise(op.Name, op.Value)
			}
		}
		a.topics[c.Name] = t
		answer[c.Name] = nil
	}
	return answer, nil
}

// DeleteTopics implements the controller's Admin.
func (a *Admin) DeleteTopics(ctx context.Context, topics []kafka.TopicDeletion) (map[string]error, error) {
	var names []string
	for _, t := range topics {
		names = append(names, t.Name)
	}
	err := a.begin(ctx, DeleteTopics, names, &a.NextDeleteTopicsErr)
	defer a.mu.Unlock()
	if err != nil {
		return nil, err
	}
	answer := map[string]error{}
	for _, t := range topics {
		if err := a.topicErr(DeleteTopics, t.Name); err != nil {
			answer[t.Name] = err
			continue
		}
		switch there, ok := a.topics[t.Name]; {
		case t.ID != "" && there.ID != t.ID:
			answer[t.Name] = ErrUnknownTopicID
		case !ok:
			answer[t.Name] = ErrUnknownTopic
		default:
			delete(a.topics, t.Name)
			answer[t.Name] = nil
		}
	}
	return answer, nil
}

// DescribeCluster implements the controller's Admin.
func (a *Admin) DescribeCluster(ctx context.Context) (observed.Registration, error) {
	var none error
	err := a.begin(ctx, DescribeCluster, nil, &none)
	defer a.mu.Unlock()
	if err != nil {
		return observed.Registration{}, err
	}
	var r observed.Registration
	for id := range a.Brokers {
		r.Brokers = append(r.Brokers, observed.Broker{ID: int32(id)})
	}
	return r, nil
}

// BrokerOptions implements the controller's Admin.
func (a *Admin) BrokerOptions(ctx context.Context, names []string) (map[string]string, error) {
	var none error
	err := a.begin(ctx, BrokerOptions, names, &none)
	defer a.mu.Unlock()
	if err = cmp.Or(err, a.BrokerOptionsErr); err != nil {
		return nil, err
	}
	answer := map[string]string{}
	for _, name := range names {
		if value, ok := a.brokerOptions[name]; ok {
			answer[name] = value
		}
	}
	return answer, nil
}

// Reassignments implements the controller's Admin.
func (a *Admin) Reassignments(ctx context.Context, topics []string) (map[string][]observed.Partition, error) {
	err := a.begin(ctx, Reassignments, topics, &a.NextReassignmentsErr)
	defer a.mu.Unlock()
	if err != nil {
		return nil, err
	}
	answer := map[string][]observed.Partition{}
	for _, name := range topics {
		if moving, ok := a.Moving[name]; ok {
			answer[name] = moving
		}
	}
	return answer, nil
}
