package brokerconfig

import (
	"strconv"
	"strings"
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

// step is how far an option can be changed at once: to the value that is wanted,
// but for the number of threads of a pool that every broker has to be able to
// follow.
func (d defaults) step(name, wanted string) string {
	target, err := strconv.ParseInt(strings.TrimSpace(wanted), 10, 32)
	if !pools[name] || err != nil {
		return wanted
	}
	low, high := int64(1), int64(1)<<31
	for _, config := range d.brokers {
		now, err := strconv.ParseInt(strings.TrimSpace(config[name].Value), 10, 32)
		if err != nil || now < 1 {
			continue
		}
		low, high = max(low, now/2), min(high, now*2)
	}
	if low > high {
		return wanted // no value suits all: Kafka decides
	}
	return strconv.FormatInt(min(max(target, low), high), 10)
}
