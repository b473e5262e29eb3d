package fake

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-kafka/sluice/internal/configdef"
	"github.com/sluice-kafka/sluice/internal/kafka"
	"github.com/sluice-kafka/sluice/internal/observed"
)

// minISR is the option that KIP-966's feature takes from the brokers.
const minISR = "min.insync.replicas"

// BrokerConfig implements Admin.
func (k *Kafka) BrokerConfig(ctx context.Context, id int32) (observed.Config, error) {
	err := k.begin(ctx, Call{Name: fmt.Sprintf("BrokerConfig %d", id)})
	defer k.mu.Unlock()
	if err != nil {
		return nil, err
	}
	b, err := k.oneBroker(id)
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, n := range configdef.BrokerNames() {
		if _, ok := configdef.Broker(b.version, n); ok {
			names[n] = true
		}
	}
	for _, from := range []map[string]string{b.static, k.defaults, k.applied[id]} {
		for n := range from {
			names[n] = true
		}
	}
	all := observed.Config{}
	for n := range names {
		all[n] = k.entry(b, id, n)
	}
	return all, nil
}

// entry puts an option's sources in Kafka's order (DynamicBrokerConfig).
func (k *Kafka) entry(b *broker, id int32, name string) observed.ConfigEntry {
	var e observed.ConfigEntry
	option, known := configdef.Broker(b.version, name)
	e.Sensitive = known && option.Type == configdef.Password
	e.ReadOnly = known && option.Update == configdef.ReadOnly
	add := func(value string, source observed.ConfigSource, ok bool) {
		if ok {
			e.Synonyms = append(e.Synonyms, observed.ConfigSynonym{Name: name, Value: value, Source: source})
		}
	}
	value, ok := k.applied[id][name]
	add(value, observed.SourceBroker, ok)
	value, ok = k.defaults[name]
	add(value, observed.SourceDefault, ok)
	value, ok = b.static[name]
	add(value, observed.SourceStatic, ok)
	if known && option.Default != nil {
		add(*option.Default, observed.SourceKafka, true)
	}
	if len(e.Synonyms) > 0 {
		e.Value = e.Synonyms[0].Value
	}
	return e
}

// DefaultConfig implements Admin.
func (k *Kafka) DefaultConfig(ctx context.Context) (observed.Config, error) {
	err := k.begin(ctx, Call{Name: "DefaultConfig"})
	defer k.mu.Unlock()
	if err == nil {
		err = k.anyBroker()
	}
	all := observed.Config{}
	for name, value := range k.defaults {
		all[name] = observed.ConfigEntry{Value: value, Synonyms: []observed.ConfigSynonym{
			{Name: name, Value: value, Source: observed.SourceDefault},
		}}
	}
	return all, err
}

// AlterBrokerConfig implements Admin.
func (k *Kafka) AlterBrokerConfig(ctx context.Context, id int32, ops []kafka.ConfigOp) error {
	err := k.begin(ctx, Call{Name: fmt.Sprintf("AlterBrokerConfig %d", id), Detail: describe(ops)})
	defer k.mu.Unlock()
	if err != nil {
		return err
	}
	b, err := k.oneBroker(id)
	if err != nil {
		return err
	}
	for _, op := range ops {
		if err := k.judge(b, op); err != nil {
			return err
		}
	}
	for _, op := range ops {
		if op.Delete {
			delete(k.dynamic[id], op.Name)
		} else {
			k.set(id, op.Name, op.Value)
		}
	}
	if !k.ApplyLate {
		k.apply(id)
	}
	return nil
}

// judge refuses what a broker refuses.
func (k *Kafka) judge(b *broker, op kafka.ConfigOp) error {
	option, known := configdef.Broker(b.version, op.Name)
	switch {
	case k.Refused[op.Name]:
		return invalidConfig("refused: " + op.Name)
	case op.Name == cordoned && known:
		return k.judgeCordon(b, op)
	case op.Name == minISR && k.elr:
		return invalidConfig("broker-level min.insync.replicas is not allowed with ELR")
	case known && option.Update == configdef.ReadOnly:
		return invalidRequest("cannot update these configs dynamically: " + op.Name)
	}
	return nil
}

func (k *Kafka) judgeCordon(b *broker, op kafka.ConfigOp) error {
	if k.level() < cordonLevel {
		return invalidConfig("cordoned.log.dirs requires metadata.version >= 4.3-IV0")
	}
	if op.Delete || op.Value == "" || op.Value == "*" {
		return nil
	}
	for _, dir := range strings.Split(op.Value, ",") {
		if !slices.Contains(b.logDirs, dir) {
			return invalidRequest("no such log directory: " + dir)
		}
	}
	return nil
}

// AlterDefaultConfig implements Admin.
func (k *Kafka) AlterDefaultConfig(ctx context.Context, ops []kafka.ConfigOp) error {
	err := k.begin(ctx, Call{Name: "AlterDefaultConfig", Detail: describe(ops)})
	defer k.mu.Unlock()
	if err == nil {
		err = k.anyBroker()
	}
	if err != nil {
		return err
	}
	for _, op := range ops {
		if err := k.judgeDefault(op); err != nil {
			return err
		}
	}
	for _, op := range ops {
		if op.Delete {
			delete(k.defaults, op.Name)
		} else {
			k.defaults[op.Name] = op.Value
		}
	}
	return nil
}

// judgeDefault refuses what the brokers refuse to have set for all of them.
func (k *Kafka) judgeDefault(op kafka.ConfigOp) error {
	switch {
	case k.Refused[op.Name]:
		return invalidConfig("refused: " + op.Name)
	case op.Name == cordoned:
		return invalidRequest("cordoned.log.dirs is per broker")
	case op.Name == minISR && k.elr && op.Delete:
		return invalidConfig("the cluster's min.insync.replicas cannot be removed with ELR")
	}
	for _, id := range k.registered() {
		if option, known := configdef.Broker(k.brokers[id].version, op.Name); known && option.Update != configdef.ClusterWide {
			return invalidRequest("cannot update these configs at the default cluster level: " + op.Name)
		}
	}
	return nil
}

// ClearBrokerConfig implements Admin. It is answered by the active controller, for
// a stopped broker too. A record of the call names what was set of the options.
func (k *Kafka) ClearBrokerConfig(ctx context.Context, id int32, names []string) error {
	k.mu.Lock()
	var cleared []kafka.ConfigOp
	for _, n := range names {
		if _, set := k.dynamic[id][n]; set {
			cleared = append(cleared, kafka.ConfigOp{Name: n, Delete: true})
		}
	}
	k.mu.Unlock()
	detail := describe(cleared)
	if detail == "" {
		detail = "nothing was set"
	}
	err := k.begin(ctx, Call{Name: fmt.Sprintf("ClearBrokerConfig %d", id), Detail: detail})
	defer k.mu.Unlock()
	if err != nil {
		return err
	}
	if b := k.brokers[id]; b == nil || !b.registered {
		return notRegistered(id)
	}
	refused := &kafka.RefusedOptionsError{Broker: id, Options: map[string]error{}}
	for _, n := range names {
		if k.Refused[n] || n == minISR && k.elr {
			refused.Options[n] = invalidConfig("refused: " + n)
			continue
		}
		delete(k.dynamic[id], n)
	}
	k.apply(id)
	if len(refused.Options) > 0 {
		return refused
	}
	return nil
}
