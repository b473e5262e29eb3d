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
// pool that every one of them has to be able to follow. It is false where no
// value suits them all.
func step(name, wanted string, brokers ...observed.Config) (string, bool) {
	target, err := strconv.ParseInt(strings.TrimSpace(wanted), 10, 32)
	if !pools[name] || err != nil {
		return wanted, true
	}
	low, high := int64(1), int64(math.MaxInt32)
	for _, config := range brokers {
		now, err := strconv.ParseInt(strings.TrimSpace(config[name].Value), 10, 32)
		if err != nil || now < 1 {
			continue
		}
		low, high = max(low, now/2), min(high, now*2)
	}
	if low > high {
		return "", false
	}
	if low <= target && target <= high {
		return wanted, true
	}
	return strconv.FormatInt(min(max(target, low), high), 10), true
}

// slowly returns an operation that takes an option as far as it can be changed
// at once: op itself, or a step on the way to plain, which op comes to. It is
// none where that step is made and not yet in effect, and held where no step
// suits all brokers: one that could not follow would log an error, and take no
// other change either (updateCurrentConfig in Kafka's DynamicBrokerConfig).
func slowly(op *Op, plain, override string, brokers ...observed.Config) (_ *Op, held bool) {
	if op == nil {
		return nil, false
	}
	value, ok := step(op.Name, plain, brokers...)
	switch {
	case !ok:
		return nil, true
	case value == plain:
		return op, false
	case value == strings.TrimSpace(override):
		return nil, false
	}
	return &Op{Name: op.Name, Value: value, Reason: op.Reason + "; Kafka lets a pool of threads at most double or halve at a time"}, false
}
