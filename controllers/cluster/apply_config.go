package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/sluice-kafka/sluice/internal/brokerconfig"
	"github.com/sluice-kafka/sluice/internal/kafka"
	"github.com/sluice-kafka/sluice/internal/metrics"
)

// liveConfig is what was seen of the configuration.
func (t *turn) liveConfig() brokerconfig.Live {
	return brokerconfig.Live{Brokers: t.seen.Configs, Default: t.seen.Default, Features: t.seen.Features}
}

// brokerChanges are what brokers' configurations lack, in the order of the members.
func (t *turn) brokerChanges() []brokerChange {
	if t.brokers != nil {
		return t.brokers
	}
	live := t.liveConfig()
	changes := []brokerChange{}
	for _, m := range t.plan.members {
		if m.Broker {
			changes = append(changes, brokerChange{id: m.ID, pod: m.Pod, wanted: t.plan.cordoned[m.ID], BrokerChange: brokerconfig.DiffBroker(m.file, live)})
		}
	}
	t.brokers = changes
	return changes
}

type brokerChange struct {
	id  int32
	pod string
	// wanted tells that the broker is to be cordoned.
	wanted bool
	brokerconfig.BrokerChange
}

// cordon keeps new replicas off brokers, or lets them on again. A refusal fails
// nothing: the drain goes on, and the condition says what it is worth.
func (t *turn) cordon(ctx context.Context) error {
	t.warnOfUncordoned()
	t.tellOfLateCordons()
	changes := slices.DeleteFunc(slices.Clone(t.brokerChanges()), func(c brokerChange) bool { return len(c.Cordon) == 0 })
	if len(changes) == 0 || t.admin == nil {
		t.tell(reasonCordonRefused, "", "")
		return nil
	}
	t.soon = true // what was written is not in effect yet
	errs := make([]error, len(changes))
	err := inParallel(ctx, t.opts.BrokerCalls, len(changes), func(i int) error {
		errs[i] = t.cordonBroker(ctx, changes[i])
		return nil
	})
	var failures, refusals []string
	for i, c := range changes {
		delete(t.memory.unsure, c.id)
		if errs[i] == nil {
			continue
		}
		failures = append(failures, errs[i].Error())
		if kafka.Passing(errs[i]) {
			// The answer may have been lost, and the change made all the same.
			t.memory.unsure[c.id] = c.wanted
		} else {
			refusals = append(refusals, errs[i].Error())
		}
	}
	if len(failures) > 0 {
		t.warn(reasonCordonFailed, "%s", strings.Join(failures, "; "))
	}
	t.tell(reasonCordonRefused, strings.Join(refusals, "; "), "%s", strings.Join(refusals, "; "))
	return err
}

// tellOfLateCordons tells of changes that were made although no answer said so.
func (t *turn) tellOfLateCordons() {
	for _, c := range t.brokerChanges() {
		wanted, unsure := t.memory.unsure[c.id]
		if unsure && c.CordonState == brokerconfig.CordonConverged {
			delete(t.memory.unsure, c.id)
			if wanted == c.wanted {
				t.tellOfCordon(c, c.CordonReason)
			}
		}
	}
}

// warnOfUncordoned names the brokers that cannot be kept from taking new replicas.
func (t *turn) warnOfUncordoned() {
	in := map[brokerconfig.CordonState][]string{}
	for _, c := range t.brokerChanges() {
		if c.wanted {
			in[c.CordonState] = append(in[c.CordonState], fmt.Sprint(c.id))
		}
	}
	if ids := in[brokerconfig.CordonAwaitsMetadataVersion]; len(ids) > 0 {
		t.soon = true
		t.warn(reasonCordonWaits, "brokers %s are to take no new replicas, and can be kept from that from metadata version 4.3-IV0 on only: "+
			"until the version rises new topics may be placed on them, and they are drained all the same", strings.Join(ids, ", "))
	}
	if ids := in[brokerconfig.CordonUnsupported]; len(ids) > 0 {
		t.warn(reasonCordonUnsupported, "brokers %s are to take no new replicas, and Kafka can keep them from that from version 4.3 on only: "+
			"new topics may be placed on them, and they are drained all the same", strings.Join(ids, ", "))
	}
	if len(in[brokerconfig.CordonUnobserved]) > 0 && t.admin != nil {
		t.soon = true
	}
}

// cordonBroker makes the call for one broker.
func (t *turn) cordonBroker(ctx context.Context, c brokerChange) error {
	op := c.Cordon[0]
	ctrl.LoggerFrom(ctx).Info("Changing the cordon of a broker", "broker", c.id, "cordon", c.wanted, "reason", op.Reason)
	switch err := t.admin.AlterBrokerConfig(ctx, c.id, kafkaOps(c.Cordon)); {
	case kafka.Passing(err):
		t.opts.Metrics.Cordon(t.key.Namespace, t.key.Name, metrics.CordonFailed)
		return fmt.Errorf("whether broker %d was %s is not known yet: %w", c.id, c.verb(), err)
	case err != nil:
		t.opts.Metrics.Cordon(t.key.Namespace, t.key.Name, metrics.CordonRefused)
		return fmt.Errorf("broker %d could not be %s: %w", c.id, c.verb(), err)
	}
	t.memory.sent.keep(c.id, t.opts.Clock.Now(), kafkaOps(c.Cordon))
	t.tellOfCordon(c, op.Reason)
	return nil
}

func (c brokerChange) verb() string {
	if c.wanted {
		return "cordoned"
	}
	return "uncordoned"
}

func (t *turn) tellOfCordon(c brokerChange, reason string) {
	why, measure := reasonUncordoned, metrics.CordonLifted
	if c.wanted {
		why, measure = reasonCordoned, metrics.CordonSet
	}
	t.opts.Metrics.Cordon(t.key.Namespace, t.key.Name, measure)
	t.event(t.kafka, t.podNamed(c.pod), why, "Broker %d was %s: %s", c.id, c.verb(), reason)
}

func kafkaOps(ops []brokerconfig.Op) []kafka.ConfigOp {
	out := make([]kafka.ConfigOp, 0, len(ops))
	for _, op := range ops {
		out = append(out, kafka.ConfigOp{Name: op.Name, Value: op.Value, Delete: op.Delete})
	}
	return out
}

// configure brings all other options to the brokers that answer.
func (t *turn) configure(ctx context.Context) error {
	t.warnOfOwned()
	if t.admin == nil {
		return nil
	}
	files := make([]brokerconfig.File, 0, len(t.plan.members))
	for _, m := range t.plan.members {
		files = append(files, m.file)
	}
	var calls []optionCall
	// The default resource first: what is set for all needs nothing of its own.
	if d := brokerconfig.DiffDefault(files, t.liveConfig()); len(d.Options) > 0 {
		calls = append(calls, optionCall{of: "all brokers", resource: forAll, ops: kafkaOps(d.Options), alter: t.admin.AlterDefaultConfig})
	}
	for _, c := range t.brokerChanges() {
		if len(c.Options) > 0 {
			calls = append(calls, optionCall{of: fmt.Sprintf("broker %d", c.id), resource: c.id, related: t.podNamed(c.pod), ops: kafkaOps(c.Options),
				alter: func(ctx context.Context, ops []kafka.ConfigOp) error {
					return t.admin.AlterBrokerConfig(ctx, c.id, ops)
				}})
		}
	}
	outcomes := make([]outcome, len(calls))
	err := inParallel(ctx, t.opts.BrokerCalls, len(calls), func(i int) error {
		outcomes[i] = t.alter(ctx, calls[i])
		return outcomes[i].failed
	})
	var refused []string
	for _, o := range outcomes {
		refused = append(refused, o.refused...)
		t.soon = t.soon || o.goesOn
	}
	if len(refused) > 0 {
		t.warn(reasonInvalidConfig, "%s", strings.Join(refused, "; "))
	}
	t.tell(reasonOptionRefused, strings.Join(refused, "; "), "%s", strings.Join(refused, "; "))
	return err
}

// optionCall changes options of one resource.
type optionCall struct {
	of       string
	resource int32 // the broker, or forAll
	related  runtime.Object
	ops      []kafka.ConfigOp
	alter    func(context.Context, []kafka.ConfigOp) error
}

// outcome of an optionCall.
type outcome struct {
	// refused are the options that Kafka refused, with its reasons.
	refused []string
	// failed is why the call could not be made.
	failed error
	// goesOn tells to look again soon: what was changed is not in effect yet, and
	// numbers of threads change in steps; or the broker is down.
	goesOn bool
}

// alter makes one call for all options. Kafka takes all of a resource's options or
// none: where it refuses them they are tried one by one, so that one that is wrong
// keeps none of the others away.
func (t *turn) alter(ctx context.Context, c optionCall) outcome {
	names := make([]string, 0, len(c.ops))
	for _, op := range c.ops {
		names = append(names, op.Name)
	}
	ctrl.LoggerFrom(ctx).Info("Changing options", "of", c.of, "options", names)
	err := c.alter(ctx, c.ops)
	switch {
	case err == nil:
		t.memory.sent.keep(c.resource, t.opts.Clock.Now(), c.ops)
		t.event(t.kafka, c.related, reasonOptionsChanged, "Changed options of %s: %s", c.of, strings.Join(names, ", "))
		return outcome{goesOn: true}
	case errors.Is(err, kafka.ErrUnreachable):
		return outcome{goesOn: true} // it fails nothing
	case kafka.Passing(err):
		return outcome{failed: fmt.Errorf("changing options of %s: %w", c.of, err)}
	case len(c.ops) == 1:
		return outcome{refused: []string{refusal(c.of, c.ops[0], err)}}
	}
	var o outcome
	for _, op := range c.ops {
		err := c.alter(ctx, []kafka.ConfigOp{op})
		switch {
		case err == nil:
			t.memory.sent.keep(c.resource, t.opts.Clock.Now(), []kafka.ConfigOp{op})
			t.event(t.kafka, c.related, reasonOptionsChanged, "Changed options of %s: %s", c.of, op.Name)
			o.goesOn = true
		case kafka.Passing(err):
			o.failed = errors.Join(o.failed, fmt.Errorf("changing option %s of %s: %w", op.Name, c.of, err))
		default:
			o.refused = append(o.refused, refusal(c.of, op, err))
		}
	}
	return o
}

func refusal(of string, op kafka.ConfigOp, err error) string {
	if op.Delete {
		return fmt.Sprintf("Kafka refuses to unset %s of %s: %v", op.Name, of, err)
	}
	return fmt.Sprintf("Kafka refuses to set %s of %s to %q: %v", op.Name, of, op.Value, err)
}

// warnOfOwned names what of spec.kafka.config is not rendered.
func (t *turn) warnOfOwned() {
	said := map[string]bool{}
	var texts []string
	for _, m := range t.plan.members {
		for _, r := range m.file.Refused {
			if !said[r.Key] {
				said[r.Key] = true
				texts = append(texts, r.Key+": "+r.Reason)
			}
		}
	}
	if len(texts) > 0 {
		t.warn(reasonIgnoredConfig, "spec.kafka.config: these options are ignored: %s", strings.Join(texts, "; "))
	}
}
