package kafka

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/sluice-kafka/sluice/internal/observed"
)

// LogDirs asks a broker for its log directories, sorted by path, with one
// DescribeLogDirs request. Only the broker itself can answer: ErrUnreachable comes
// within half of a call's bound, and mostly at once for one that is fenced.
func (c *Client) LogDirs(ctx context.Context, broker int32) (dirs []observed.LogDir, err error) {
	err = c.askOne(ctx, broker, func(ctx context.Context, to sender) error {
		dirs, err = logDirs(ctx, broker, to)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the log directories of broker %d: %w", broker, err)
	}
	return dirs, nil
}

func logDirs(ctx context.Context, broker int32, to sender) ([]observed.LogDir, error) {
	op := operation{verb: "describe", needs: "DESCRIBE on the cluster"}
	req := kmsg.NewPtrDescribeLogDirsRequest()
	req.Topics = nil // all
	resp, err := req.RequestWith(ctx, to)
	if err != nil {
		return nil, err
	}
	if err := op.errorOf(fmt.Sprintf("broker %d", broker), answer{code: resp.ErrorCode}); err != nil {
		return nil, err
	}
	// Each broker has one at least. Before version 3 an empty answer was how
	// Kafka refused it.
	if len(resp.Dirs) == 0 {
		return nil, ErrNotAnswered
	}
	out := make([]observed.LogDir, len(resp.Dirs))
	for i := range resp.Dirs {
		if out[i], err = logDir(op, &resp.Dirs[i]); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(out, func(a, b observed.LogDir) int { return cmp.Compare(a.Path, b.Path) })
	return out, nil
}

func logDir(op operation, in *kmsg.DescribeLogDirsResponseDir) (observed.LogDir, error) {
	// KAFKA_STORAGE_ERROR is how ReplicaManager.describeLogDirs shows a directory
	// that failed.
	if in.ErrorCode == kerr.KafkaStorageError.Code {
		return observed.LogDir{Path: in.Dir, Offline: true}, nil
	}
	if err := op.errorOf("log directory "+in.Dir, answer{code: in.ErrorCode}); err != nil {
		return observed.LogDir{}, err
	}
	out := observed.LogDir{Path: in.Dir, Cordoned: in.IsCordoned}
	for i := range in.Topics {
		for j := range in.Topics[i].Partitions {
			out.Replicas++
			out.Bytes += in.Topics[i].Partitions[j].Size
		}
	}
	return out, nil
}
