package brokerconfig

import (
	"math"
	"strconv"
	"strings"

	"github.com/sluice-kafka/sluice/internal/observed"
)

// pools are the numbers of threads that Kafka lets at most double and at most
// halve in one change (DynamicThreadPool, DataPlaneAcceptor, LogCleaner and
// RemoteLogManager there refuse more). A larger change is made in steps.
var pools = map[string]bool{
	"background.threads":                             true,
	"log.cleaner.threads":                            true,
	"num.io.threads":                                 true,
	"num.network.threads":                            true,
	"num.recovery.threads.per.data.dir":              true,
	"num.replica.fetchers":                           true,
	"remote.log.manager.copier.thread.pool.size":     true,
	"remote.log.manager.expiration.thread.pool.size": true,
	"remote.log.manager.follower.thread.pool.size":   true,
	"remote.log.reader.threads":                      true,
}

// step is how far an option can be changed at once from where each of the
// brokers in question is: to what is wanted, but for the number of threads of a
// pool that every one of them has to be able to follow.
func step(name, wanted string, brokers ...observed.Config) string {
	target, err := strconv.ParseInt(strings.TrimSpace(wanted), 10, 32)
	if !pools[name] || err != nil {
		return wanted
	}
	low, high := int64(1), int64(math.MaxInt32)
	for _, config := range brokers {
		now, err := strconv.ParseInt(strings.TrimSpace(config[name].Value), 10, 32)
		if err != nil || now < 1 {
			continue
		}
		low, high = max(low, now/2), min(high, now*2)
	}
	if low > high || low <= target && target <= high {
		return wanted // no value suits all, and Kafka decides; or this one does
	}
	return strconv.FormatInt(min(max(target, low), high), 10)
}

// slowly returns an operation that takes an option as far as it can be changed
// at once: op itself, or a step on the way to plain, which op comes to; nil where
// that step is made and not yet in effect.
func slowly(op *Op, plain, override string, brokers ...observed.Config) *Op {
	if op == nil {
		return nil
	}
	value := step(op.Name, plain, brokers...)
	switch value {
	case plain:
		return op
	case strings.TrimSpace(override):
		return nil
	}
	return &Op{Name: op.Name, Value: value, Reason: op.Reason + "; Kafka lets a pool of threads at most double or halve at a time"}
}
