package integration

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kmsg"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/test/harness"
)

// The listener at which users log in, and the operator's user there.
const (
	loginListener = "LOGIN"
	topicUser     = "sluice"
	topicPassword = "sluice-secret"
)

// topicRights is what docs/kafka-permissions.md tells to grant.
var topicRights = []kmsg.ACLOperation{
	kmsg.ACLOperationDescribe, kmsg.ACLOperationDescribeConfigs, kmsg.ACLOperationCreate,
	kmsg.ACLOperationAlter, kmsg.ACLOperationAlterConfigs, kmsg.ACLOperationDelete,
}

// rights are ACLs of the operator's user.
type rights struct{ *topicEnv }

func (r rights) create(b *kadm.ACLBuilder) {
	r.Helper()
	created, err := r.admin.CreateACLs(r.Context(), b.ResourcePatternType(kadm.ACLPatternLiteral))
	if err != nil || len(created) == 0 {
		r.Fatalf("creating ACLs: %d, %v", len(created), err)
	}
	for _, c := range created {
		if c.Err != nil {
			r.Fatal(c.Err)
		}
	}
}

// deny takes a right to a topic away, or to the cluster where no topic is named, and
// returns what gives it back.
func (r rights) deny(operation kmsg.ACLOperation, topics ...string) (grant func()) {
	r.Helper()
	b := func() *kadm.ACLBuilder {
		b := kadm.NewACLs().Deny("User:" + topicUser).DenyHosts("*").Operations(operation).ResourcePatternType(kadm.ACLPatternLiteral)
		if len(topics) == 0 {
			return b.Clusters()
		}
		return b.Topics(topics...)
	}
	r.create(b())
	return func() {
		r.Helper()
		deleted, err := r.admin.DeleteACLs(r.Context(), b())
		if err != nil || len(deleted) != max(1, len(topics)) {
			r.Fatalf("deleting ACLs: %d, %v", len(deleted), err)
		}
		for _, d := range deleted {
			if d.Err != nil || len(d.Deleted) != 1 {
				r.Fatalf("deleting ACLs: %+v", d)
			}
		}
	}
}

// topicsWithoutARight has the operator log in as a user with no other rights than
// those that are documented, and takes one after the other from it: what needs it
// fails and says which, all else goes on, and it heals when the right is given back.
func topicsWithoutARight(e *topicEnv) {
	r := rights{e}
	r.create(kadm.NewACLs().Allow("User:" + topicUser).AllowHosts("*").Topics("*").Operations(topicRights...))
	r.create(kadm.NewACLs().Allow("User:"+topicUser).AllowHosts("*").Clusters().Operations(kmsg.ACLOperationDescribe, kmsg.ACLOperationDescribeConfigs))
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: harness.Namespace, Name: "kafka-login"},
		StringData: map[string]string{"sasl.mechanism": "PLAIN", "username": topicUser, "password": topicPassword},
	}
	if err := e.kube.Create(e.Context(), secret); err != nil {
		e.Fatal(err)
	}
	err := e.installed.Upgrade(e.Context(), os.Stderr, map[string]any{"externalClusters": []any{map[string]any{
		"name": topicCluster, "namespaces": []any{e.namespace}, "bootstrapServers": e.kafka.At(loginListener),
		"credentials": map[string]any{"secret": secret.Name},
	}}})
	if err != nil {
		e.Fatal(err)
	}
	grant := r.deny(kmsg.ACLOperationDescribeConfigs)
	e.start("--resync-interval=3s")
	e.createTopics(unlimited + 1)
	for _, test := range []struct {
		name string
		run  func(rights)
	}{
		{"to describe the brokers' options", func(r rights) { r.review(grant) }},
		{"to describe", rights.describe},
		{"to describe options", rights.describeConfigs},
		{"to create", rights.createOne},
		{"to add partitions", rights.alter},
		{"to alter options", rights.alterConfigs},
		{"to list reassignments", rights.listReassignments},
		{"to delete", rights.deleteOne},
	} {
		e.Run(test.name, func(t *testing.T) {
			in := *e
			in.T = t
			test.run(rights{&in})
		})
	}
}

// What the resources are for, by their number.
const (
	undescribed = iota
	opaque
	stuck
	undeletable
	// unlimited is one that nothing is taken from.
	unlimited
	undescribedNew
	opaqueNew
	uncreated
	last
)

// lacks fails unless the i-th resource says which right is missing.
func (r rights) lacks(i int, acl string) error {
	r.Helper()
	kt := r.get(i)
	if kt == nil || len(kt.Status.Conditions) == 0 {
		return fmt.Errorf("topic %d says nothing: %+v", i, kt)
	}
	c := kt.Status.Conditions[0]
	for _, part := range []string{"AUTHORIZATION_FAILED", "the operator's principal needs " + acl} {
		if c.Status != "False" || c.Reason != apiv1.ReasonKafkaError || !strings.Contains(c.Message, part) {
			return fmt.Errorf("topic %d says %+v, which lacks %q", i, c, part)
		}
	}
	return nil
}

// goesOn changes the resource that nothing is taken from, and waits until Kafka has
// the change.
func (r rights) goesOn(retention string) {
	r.Helper()
	r.change(unlimited, fmt.Sprintf(`{"spec":{"config":{"retention.ms":%s}}}`, retention))
	r.until(func(ctx context.Context) error {
		return errors.Join(r.ready(unlimited), r.set(ctx, unlimited, map[string]string{"retention.ms": retention}))
	})
}

func (r rights) review(grant func()) {
	r.waitTopics(unlimited+1, isReady)
	r.told("PermissionMissing", "DESCRIBE_CONFIGS on the cluster")
	grant()
}

func (r rights) describe() {
	id := r.id(undescribed)
	grant := r.deny(kmsg.ACLOperationDescribe, r.inKafka(undescribed), r.inKafka(undescribedNew))
	r.topicEnv.create(undescribedNew, apiv1.KafkaTopicSpec{})
	r.until(func(context.Context) error {
		return errors.Join(r.lacks(undescribed, "DESCRIBE on the topic"), r.lacks(undescribedNew, "DESCRIBE on the topic"))
	})
	r.goesOn("1000001")
	grant()
	r.until(func(context.Context) error { return errors.Join(r.ready(undescribed), r.ready(undescribedNew)) })
	if got := r.id(undescribed); got != id {
		r.Errorf("the topic that could not be described was %s, and is %s", id, got)
	}
}

func (r rights) describeConfigs() {
	grant := r.deny(kmsg.ACLOperationDescribeConfigs, r.inKafka(opaque), r.inKafka(opaqueNew))
	r.change(opaque, `{"spec":{"partitions":3,"config":{"retention.ms":3600000}}}`)
	r.topicEnv.create(opaqueNew, apiv1.KafkaTopicSpec{Partitions: number(int64(2))})
	r.until(func(context.Context) error {
		return errors.Join(
			r.lacks(opaque, "DESCRIBE_CONFIGS on the topic"), r.partitions(opaque, 3),
			r.lacks(opaqueNew, "DESCRIBE_CONFIGS on the topic"), r.partitions(opaqueNew, 2),
		)
	})
	r.goesOn("1000002")
	grant()
	r.until(func(ctx context.Context) error {
		return errors.Join(r.ready(opaque), r.ready(opaqueNew), r.set(ctx, opaque, map[string]string{"retention.ms": "3600000"}))
	})
}

func (r rights) createOne() {
	grant := r.deny(kmsg.ACLOperationCreate, r.inKafka(uncreated))
	r.topicEnv.create(uncreated, apiv1.KafkaTopicSpec{})
	r.topicEnv.create(last, apiv1.KafkaTopicSpec{})
	r.until(func(context.Context) error {
		return errors.Join(r.lacks(uncreated, "CREATE on the topic or on the cluster"), r.ready(last))
	})
	r.goesOn("1000003")
	grant()
	r.until(func(context.Context) error { return r.ready(uncreated) })
}

func (r rights) alter() {
	grant := r.deny(kmsg.ACLOperationAlter, r.inKafka(stuck))
	r.change(stuck, `{"spec":{"partitions":2,"config":{"retention.ms":3600000}}}`)
	r.until(func(ctx context.Context) error {
		return errors.Join(r.lacks(stuck, "ALTER on the topic"), r.set(ctx, stuck, map[string]string{"retention.ms": "3600000"}))
	})
	r.goesOn("1000004")
	grant()
	r.until(func(context.Context) error { return errors.Join(r.ready(stuck), r.partitions(stuck, 2)) })
}

func (r rights) alterConfigs() {
	grant := r.deny(kmsg.ACLOperationAlterConfigs, r.inKafka(stuck))
	r.change(stuck, `{"spec":{"partitions":3,"config":{"retention.ms":7200000}}}`)
	r.until(func(context.Context) error {
		return errors.Join(r.lacks(stuck, "ALTER_CONFIGS on the topic"), r.partitions(stuck, 3))
	})
	r.goesOn("1000005")
	grant()
	r.until(func(ctx context.Context) error {
		return errors.Join(r.ready(stuck), r.set(ctx, stuck, map[string]string{"retention.ms": "7200000"}))
	})
}

// Nobody is asked for reassignments while all replication factors are as wanted.
func (r rights) listReassignments() {
	grant := r.deny(kmsg.ACLOperationDescribe)
	r.change(stuck, `{"spec":{"replicas":2,"partitions":4,"config":{"retention.ms":3600000}}}`)
	r.until(func(ctx context.Context) error {
		return errors.Join(
			r.lacks(stuck, "DESCRIBE on the cluster"), r.partitions(stuck, 4), r.set(ctx, stuck, map[string]string{"retention.ms": "3600000"}),
		)
	})
	r.goesOn("1000006")
	grant()
	// There is no engine for this cluster.
	r.until(func(context.Context) error { return r.says(stuck, apiv1.ReasonNotSupported) })
	r.change(stuck, `{"spec":{"replicas":null}}`)
	r.until(func(context.Context) error { return r.ready(stuck) })
}

func (r rights) deleteOne() {
	id := r.id(undeletable)
	grant := r.deny(kmsg.ACLOperationDelete, r.inKafka(undeletable))
	r.delete(undeletable, last)
	r.until(func(context.Context) error {
		err := r.lacks(undeletable, "DELETE on the topic")
		if r.get(last) != nil {
			err = errors.Join(err, fmt.Errorf("topic %d is still there", last))
		}
		return err
	})
	if got := r.id(undeletable); got != id {
		r.Errorf("the topic that could not be deleted was %s, and is %q", id, got)
	}
	r.goesOn("1000007")
	grant()
	r.waitTopics(last-1, isReady)
	r.waitInKafka(last - 1)
}
