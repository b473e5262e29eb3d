package integration

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

// Nothing serves the webhook here, so whatever is sent to it is refused.
func TestOnlyPodsThatLackAVolumeWaitForSluice(t *testing.T) {
	in := installation(t)
	ns := createNamespace(t, in, nil)
	off := createNamespace(t, in, map[string]string{apiv1.LabelAdmission: apiv1.AdmissionDisabled})

	complete := brokerPod(ns, "0", "creds")
	complete.Spec.Volumes = []corev1.Volume{secretVolume("creds", "s")}
	complete.Spec.InitContainers = []corev1.Container{container("kafka-init", "creds")}
	initLacks := brokerPod(ns, "1")
	initLacks.Spec.InitContainers = []corev1.Container{container("kafka-init", "creds")}
	second := brokerPod(ns, "2", "creds")
	second.Spec.Volumes = complete.Spec.Volumes
	second.Spec.Containers = append(second.Spec.Containers, container("second", "creds", "other"))
	lacksLast := largest(brokerPod(ns, "4"))
	last := &lacksLast.Spec.Containers[10].VolumeMounts[59]
	last.Name = "other"
	unnamed := brokerPod(ns, "5", "creds")
	delete(unnamed.Labels, apiv1.LabelPodName)

	empty := brokerPod(ns, "7")
	empty.Spec.Containers = nil

	tests := map[string]struct {
		pod *corev1.Pod
		// want is "created", "waits" for Sluice, or "invalid" by the API server.
		want string
	}{
		"an unrelated pod":                                {plainPod(ns, "plain"), "created"},
		"an unrelated pod that lacks a volume":            {plainPod(ns, "lacks", "creds"), "invalid"},
		"a node's pod without mounts or volumes":          {brokerPod(ns, "10"), "created"},
		"a node's pod that has its volumes":               {complete, "created"},
		"the largest pod that has its volumes":            {largest(brokerPod(ns, "3")), "created"},
		"a Connect pod without mounts":                    {workerPod(ns, apiv1.ComponentKafkaConnect, "c", "c-connect-0"), "created"},
		"a pod of another component":                      {workerPod(ns, "kafka-bridge", "c", "c-bridge-0", "creds"), "invalid"},
		"a pod without the pod's name as label":           {unnamed, "invalid"},
		"a namespace where admission is off":              {brokerPod(off, "0", "creds"), "invalid"},
		"a node's pod without containers":                 {empty, "invalid"},
		"a node's pod that lacks a volume":                {brokerPod(ns, "6", "creds"), "waits"},
		"a node's init container lacks a volume":          {initLacks, "waits"},
		"a second container lacks a volume":               {second, "waits"},
		"the largest pod, whose last mount names nothing": {lacksLast, "waits"},
		"a Connect pod that lacks a volume":               {workerPod(ns, apiv1.ComponentKafkaConnect, "c", "c-connect-1", "creds"), "waits"},
		"a MirrorMaker 2 pod that lacks a volume":         {workerPod(ns, apiv1.ComponentMirrorMaker2, "m", "m-mirrormaker2-0", "creds"), "waits"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := in.Client.Create(t.Context(), tt.pod)
			got := fmt.Sprint(err)
			switch {
			case err == nil:
				got = "created"
			case apierrors.IsInvalid(err):
				got = "invalid"
			case strings.Contains(err.Error(), `failed calling webhook "pods.sluice.dev"`):
				got = "waits"
			}
			if got != tt.want {
				t.Errorf("creating the pod: %s, want: %s", got, tt.want)
			}
		})
	}
}

// largest fills a pod with 60 volumes and 11 containers that mount all of them,
// each in the volumes' order, which makes the condition look furthest.
func largest(pod *corev1.Pod) *corev1.Pod {
	var names []string
	for i := range 60 {
		names = append(names, fmt.Sprintf("volume-%d", i))
		pod.Spec.Volumes = append(pod.Spec.Volumes, secretVolume(names[i], "s"))
	}
	pod.Spec.Containers = nil
	for i := range 11 {
		pod.Spec.Containers = append(pod.Spec.Containers, container(fmt.Sprintf("c%d", i), names...))
	}
	return pod
}
