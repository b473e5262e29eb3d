package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

// pods creates Kafka pods as Strimzi before 1.2 does: with the mounts of the
// template, and without its volumes.
func (d *demo) pods(ctx context.Context) error {
	d.chapter("Each Kafka pod gets volumes of its own at admission")
	d.say("The pool applied above asks for the Secret creds-{nodeId} and the claim audit-{nodeId}.")
	d.say("The demo creates its pods as Strimzi before 1.2 would: with the mounts, without volumes.")
	for id := range 2 {
		pod := kafkaPod(id)
		d.blank()
		d.say("Pod %s comes back from the API server with", pod.Name)
		if err := d.kubectl.Create(ctx, pod); err != nil {
			return err
		}
		secret, claim := "", ""
		for _, v := range pod.Spec.Volumes {
			switch {
			case v.Secret != nil:
				secret = v.Secret.SecretName
				d.answer(fmt.Sprintf("volume %s: Secret %s", v.Name, secret))
			case v.PersistentVolumeClaim != nil:
				claim = v.PersistentVolumeClaim.ClaimName
				d.answer(fmt.Sprintf("volume %s: PersistentVolumeClaim %s", v.Name, claim))
			}
		}
		ok := secret == fmt.Sprintf("creds-%d", id) && claim == fmt.Sprintf("audit-%d", id)
		if err := d.check(ok, "%s mounts a Secret and a claim of its own", pod.Name); err != nil {
			return err
		}
	}
	plain := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "unrelated", Namespace: namespace},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "nginx"}}},
	}
	if err := d.kubectl.Create(ctx, plain); err != nil {
		return err
	}
	return d.check(len(plain.Spec.Volumes) == 0 && len(plain.Annotations) == 0, "an unrelated pod is left as it is")
}

func kafkaPod(id int) *corev1.Pod {
	name := fmt.Sprintf("%s-brokers-%d", cluster, id)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: namespace,
			Labels: map[string]string{
				apiv1.LabelCluster:       cluster,
				apiv1.LabelKind:          apiv1.KindKafka,
				apiv1.LabelName:          cluster + "-kafka",
				apiv1.LabelPoolName:      "brokers",
				apiv1.LabelPodName:       name,
				apiv1.LabelComponentType: apiv1.ComponentKafka,
			},
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "kafka", Image: "apache/kafka:4.3.1",
			VolumeMounts: []corev1.VolumeMount{
				{Name: "creds", MountPath: "/mnt/creds"},
				{Name: "audit", MountPath: "/mnt/audit"},
			},
		}}},
	}
}
