package kafka

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/sluice-kafka/sluice/internal/configdef"
	"github.com/sluice-kafka/sluice/internal/observed"
)

// fencedShown is the first version of DescribeCluster that shows fenced brokers
// (KIP-1073, Kafka 4.0).
const fencedShown = 2

// DescribeCluster reads who is registered, fenced brokers included, with one
// DescribeCluster request. Any broker answers from what it knows of the metadata
// log, so a change shows with a delay. ErrUnsupportedVersion tells that the broker
// cannot show fenced ones.
func (c *Client) DescribeCluster(ctx context.Context) (observed.Registration, error) {
	op := operation{verb: "describe", needs: "DESCRIBE on the cluster"}
	ctx, cancel := c.bound(ctx)
	defer cancel()
	req := kmsg.NewPtrDescribeClusterRequest()
	req.IncludeFencedBrokers = true
	resp, err := req.RequestWith(ctx, c.toAny())
	if err != nil {
		return observed.Registration{}, fmt.Errorf("describe the cluster: %w", err)
	}
	// The client asks as the broker can: an older one would leave out the fenced
	// brokers without a word.
	if resp.Version < fencedShown {
		return observed.Registration{}, fmt.Errorf("describe the cluster: %w: the broker knows DescribeCluster up to version %d, and fenced brokers are shown from version %d on (Kafka 4.0); upgrade the brokers",
			ErrUnsupportedVersion, resp.Version, fencedShown)
	}
	if err := op.errorOf("the cluster", answer{code: resp.ErrorCode, message: resp.ErrorMessage}); err != nil {
		return observed.Registration{}, err
	}
	r := observed.Registration{ClusterID: resp.ClusterID, Brokers: make([]observed.Broker, len(resp.Brokers))}
	for i := range resp.Brokers {
		b := &resp.Brokers[i]
		r.Brokers[i] = observed.Broker{ID: b.NodeID, Fenced: b.IsFenced}
		if b.Rack != nil {
			r.Brokers[i].Rack = *b.Rack
		}
	}
	slices.SortFunc(r.Brokers, func(a, b observed.Broker) int { return cmp.Compare(a.ID, b.ID) })
	return r, nil
}

// Names of features (org.apache.kafka.server.common.MetadataVersion and
// EligibleLeaderReplicasVersion).
const (
	featureMetadata = "metadata.version"
	featureELR      = "eligible.leader.replicas.version"
)

// Features reads what is finalized with one ApiVersions request to any broker.
// What was learnt when a connection was made would not do: the level may have
// risen since.
func (c *Client) Features(ctx context.Context) (observed.Features, error) {
	op := operation{verb: "read", needs: "nothing that Kafka could refuse"}
	ctx, cancel := c.bound(ctx)
	defer cancel()
	req := kmsg.NewPtrApiVersionsRequest()
	// Both are required, and there is no version of this package.
	req.ClientSoftwareName, req.ClientSoftwareVersion = "sluice", "0"
	resp, err := req.RequestWith(ctx, c.toAny())
	if err != nil {
		return observed.Features{}, fmt.Errorf("read the features: %w", err)
	}
	if err := op.errorOf("the features", answer{code: resp.ErrorCode}); err != nil {
		return observed.Features{}, err
	}
	var f observed.Features
	for i := range resp.FinalizedFeatures {
		switch feature := &resp.FinalizedFeatures[i]; feature.Name {
		case featureMetadata:
			f.MetadataLevel = feature.MaxVersionLevel
		case featureELR:
			f.EligibleLeaderReplicas = feature.MaxVersionLevel > 0
		}
	}
	if f.MetadataLevel == 0 {
		return observed.Features{}, fmt.Errorf("read the features: %w: no %s is finalized as far as the broker knows", ErrNotAnswered, featureMetadata)
	}
	var known bool
	if f.MetadataVersion, known = configdef.MetadataVersionAt(f.MetadataLevel); !known {
		f.MetadataVersion = fmt.Sprintf("level %d", f.MetadataLevel)
	}
	return f, nil
}

// upgrade is UpgradeType.UPGRADE of UpdateFeatures (KIP-778): a lower level than
// the finalized one is refused.
const upgrade = 1

// UpdateMetadataVersion raises the finalized metadata version, such as to
// "4.3-IV0", with one UpdateFeatures request. A version that is finalized already
// is no error. ErrInvalidUpdateVersion tells that the version is not known here or
// to all nodes, or below the finalized one.
func (c *Client) UpdateMetadataVersion(ctx context.Context, version string) error {
	op := operation{verb: "raise", needs: "ALTER on the cluster"}
	subject := "the metadata version to " + version
	level, known := configdef.MetadataLevel(version)
	if !known {
		return fmt.Errorf("raise %s: %w: the versions known here end with Kafka %s", subject, ErrInvalidUpdateVersion, configdef.Latest())
	}
	ctx, cancel := c.bound(ctx)
	defer cancel()
	update := kmsg.NewUpdateFeaturesRequestFeatureUpdate()
	update.Feature, update.MaxVersionLevel, update.UpgradeType = featureMetadata, level, upgrade
	req := kmsg.NewPtrUpdateFeaturesRequest()
	req.TimeoutMillis = c.requestMillis()
	req.FeatureUpdates = append(req.FeatureUpdates, update)
	resp, err := req.RequestWith(ctx, c.toAny())
	if err != nil {
		return fmt.Errorf("raise %s: %w", subject, err)
	}
	if err := op.errorOf(subject, answer{code: resp.ErrorCode, message: resp.ErrorMessage}); err != nil {
		return err
	}
	// Up to version 1 each feature has its own answer.
	for i := range resp.Results {
		if err := op.errorOf(subject, answer{code: resp.Results[i].ErrorCode, message: resp.Results[i].ErrorMessage}); err != nil {
			return err
		}
	}
	return nil
}

// UnregisterBroker takes a broker out of the registration with one
// UnregisterBroker request. One that is not registered is no error. What was
// configured dynamically for the ID stays, and nothing can clear it until the ID
// registers again: see ClearBrokerConfig.
func (c *Client) UnregisterBroker(ctx context.Context, broker int32) error {
	op := operation{verb: "unregister", needs: "ALTER on the cluster"}
	ctx, cancel := c.bound(ctx)
	defer cancel()
	req := kmsg.NewPtrUnregisterBrokerRequest()
	req.BrokerID = broker
	resp, err := req.RequestWith(ctx, c.toAny())
	if err != nil {
		return fmt.Errorf("unregister broker %d: %w", broker, err)
	}
	err = op.errorOf(fmt.Sprintf("broker %d", broker), answer{code: resp.ErrorCode, message: resp.ErrorMessage, throttleMillis: resp.ThrottleMillis})
	if errors.Is(err, ErrBrokerNotRegistered) {
		return nil
	}
	return err
}

// Quorum reads what the active controller says of the metadata quorum, with one
// DescribeQuorum request that any broker passes on to it.
func (c *Client) Quorum(ctx context.Context) (observed.Quorum, error) {
	op := operation{verb: "describe", needs: "DESCRIBE on the cluster"}
	const subject = "the metadata quorum"
	ctx, cancel := c.bound(ctx)
	defer cancel()
	topic := kmsg.NewDescribeQuorumRequestTopic()
	// The metadata log is partition 0 of this topic (KIP-595).
	topic.Topic = "__cluster_metadata"
	topic.Partitions = append(topic.Partitions, kmsg.NewDescribeQuorumRequestTopicPartition())
	req := kmsg.NewPtrDescribeQuorumRequest()
	req.Topics = append(req.Topics, topic)
	resp, err := req.RequestWith(ctx, c.toAny())
	if err != nil {
		return observed.Quorum{}, fmt.Errorf("describe %s: %w", subject, err)
	}
	if err := op.errorOf(subject, answer{code: resp.ErrorCode, message: resp.ErrorMessage}); err != nil {
		return observed.Quorum{}, err
	}
	if len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1 {
		return observed.Quorum{}, fmt.Errorf("describe %s: %w", subject, ErrNotAnswered)
	}
	p := &resp.Topics[0].Partitions[0]
	if err := op.errorOf(subject, answer{code: p.ErrorCode, message: p.ErrorMessage}); err != nil {
		return observed.Quorum{}, err
	}
	q := observed.Quorum{Leader: p.LeaderID, Voters: make([]observed.Voter, len(p.CurrentVoters))}
	for i := range p.CurrentVoters {
		v := &p.CurrentVoters[i]
		q.Voters[i] = observed.Voter{ID: v.ReplicaID, LogEndOffset: v.LogEndOffset, LastCaughtUp: at(v.LastCaughtUpTimestamp), LastFetch: at(v.LastFetchTimestamp)}
	}
	slices.SortFunc(q.Voters, func(a, b observed.Voter) int { return cmp.Compare(a.ID, b.ID) })
	return q, nil
}

// at is zero for Kafka's -1, which is for what is not known.
func at(millis int64) time.Time {
	if millis < 0 {
		return time.Time{}
	}
	return time.UnixMilli(millis)
}
