//go:build linux

package agent

import (
	"encoding/json"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// publish writes the pod's status where it is news.
func (w *worker) publish() {
	// One at a time, so that an older status never follows a newer one.
	w.publishing.Lock()
	defer w.publishing.Unlock()
	for w.exists.Err() == nil {
		status := w.status()
		if w.published != nil && equality.Semantic.DeepEqual(*w.published, status) {
			return
		}
		// A strategic merge leaves conditions of other writers, such as an
		// eviction's, alone.
		patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": w.current().UID}, "status": status})
		if err != nil {
			w.Log.Error("Encoding a status", "pod", w.key, "error", err)
			return
		}
		_, err = w.Client.CoreV1().Pods(w.key.Namespace).Patch(w.exists, w.key.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
		if err == nil {
			w.published = &status
			return
		}
		if apierrors.IsNotFound(err) || apierrors.IsConflict(err) || w.exists.Err() != nil {
			return // gone, or another pod of that name
		}
		w.Log.Error("Writing a status", "pod", w.key, "error", err)
		w.pause(w.exists)
	}
}

func (w *worker) status() corev1.PodStatus {
	w.mu.Lock()
	pod, trouble, prepared := w.pod, w.trouble, w.folders != nil
	w.mu.Unlock()
	s := corev1.PodStatus{
		ObservedGeneration: pod.Generation,
		StartTime:          &w.begun,
		HostIP:             w.Network.Gateway.IP.String(),
		HostIPs:            []corev1.HostIP{{IP: w.Network.Gateway.IP.String()}},
		QOSClass:           pod.Status.QOSClass,
	}
	if ip := w.address(); ip != "" {
		s.PodIP, s.PodIPs = ip, []corev1.PodIP{{IP: ip}}
	}
	initialized := w.addContainers(&s, trouble)
	s.Phase = phase(pod, s)
	unready := unreadyNames(s)
	if finishedPhase(s.Phase) {
		unready = append(unready, string(s.Phase))
	}
	message := ""
	if len(unready) > 0 {
		message = fmt.Sprintf("containers with unready status: [%s]", strings.Join(unready, " "))
	}
	s.Conditions = w.conditions(pod, map[corev1.PodConditionType]bool{
		corev1.PodScheduled: true, corev1.PodInitialized: initialized && prepared, corev1.PodReadyToStartContainers: prepared,
		corev1.ContainersReady: len(unready) == 0, corev1.PodReady: len(unready) == 0 && gatesOpen(pod),
	}, message)
	return s
}

// addContainers adds what is known of the containers, and tells whether all init
// containers have succeeded. Trouble is what holds the pod before them.
func (w *worker) addContainers(s *corev1.PodStatus, trouble string) (initialized bool) {
	initialized = true
	for _, c := range w.inits {
		one := c.status()
		initialized = initialized && one.State.Terminated != nil && one.State.Terminated.ExitCode == 0
		s.InitContainerStatuses = append(s.InitContainerStatuses, one)
	}
	for _, c := range w.mains {
		one := c.status()
		if initialized && one.State.Waiting != nil && one.State.Waiting.Reason == reasonInitWaits {
			one.State.Waiting = &corev1.ContainerStateWaiting{Reason: reasonCreating, Message: trouble}
		}
		s.ContainerStatuses = append(s.ContainerStatuses, one)
	}
	return initialized
}

// conditions keep their time of transition where they say what they said.
func (w *worker) conditions(pod *corev1.Pod, is map[corev1.PodConditionType]bool, unready string) []corev1.PodCondition {
	var all []corev1.PodCondition
	for _, t := range []corev1.PodConditionType{corev1.PodScheduled, corev1.PodReadyToStartContainers, corev1.PodInitialized, corev1.ContainersReady, corev1.PodReady} {
		c := corev1.PodCondition{Type: t, Status: corev1.ConditionFalse, LastTransitionTime: metav1.Now(), ObservedGeneration: pod.Generation}
		switch {
		case is[t]:
			c.Status = corev1.ConditionTrue
		case t == corev1.PodReady || t == corev1.ContainersReady:
			c.Reason, c.Message = "ContainersNotReady", unready
		}
		before := pod.Status.Conditions
		if w.published != nil {
			before = w.published.Conditions
		}
		for _, old := range before {
			if old.Type == t && old.Status == c.Status {
				c.LastTransitionTime = old.LastTransitionTime
			}
		}
		all = append(all, c)
	}
	return all
}

// phase as a kubelet gives it.
func phase(pod *corev1.Pod, s corev1.PodStatus) corev1.PodPhase {
	never := pod.Spec.RestartPolicy == corev1.RestartPolicyNever
	if _, _, failed := count(s.InitContainerStatuses); failed > 0 && never {
		return corev1.PodFailed
	}
	began, ended, failed := count(s.ContainerStatuses)
	forGood := pod.DeletionTimestamp != nil || never || pod.Spec.RestartPolicy == corev1.RestartPolicyOnFailure && failed == 0
	switch {
	case ended == len(s.ContainerStatuses) && forGood && failed > 0:
		return corev1.PodFailed
	case ended == len(s.ContainerStatuses) && forGood:
		return corev1.PodSucceeded
	case began == len(s.ContainerStatuses):
		return corev1.PodRunning
	}
	return corev1.PodPending
}

// count containers that ever began, those that have ended, and of these those
// that failed.
func count(all []corev1.ContainerStatus) (began, ended, failed int) {
	for _, c := range all {
		if c.State.Running != nil || c.State.Terminated != nil || c.LastTerminationState.Terminated != nil {
			began++
		}
		if t := c.State.Terminated; t != nil {
			ended++
			if t.ExitCode != 0 {
				failed++
			}
		}
	}
	return began, ended, failed
}

func finishedPhase(p corev1.PodPhase) bool { return p == corev1.PodSucceeded || p == corev1.PodFailed }

func unreadyNames(s corev1.PodStatus) []string {
	var names []string
	for _, c := range s.ContainerStatuses {
		if !c.Ready {
			names = append(names, c.Name)
		}
	}
	return names
}

func gatesOpen(pod *corev1.Pod) bool {
	for _, g := range pod.Spec.ReadinessGates {
		open := false
		for _, c := range pod.Status.Conditions {
			open = open || c.Type == g.ConditionType && c.Status == corev1.ConditionTrue
		}
		if !open {
			return false
		}
	}
	return true
}

func (c *container) status() corev1.ContainerStatus {
	c.mu.Lock()
	defer c.mu.Unlock()
	started := c.started
	s := corev1.ContainerStatus{
		Name: c.spec.Name, Image: c.spec.Image, ImageID: c.spec.Image,
		State: c.state, LastTerminationState: c.last, RestartCount: c.restarts,
		Ready: c.ready, Started: &started,
	}
	if c.process != nil {
		s.ContainerID = fmt.Sprintf("process://%d", c.process.PID)
	}
	return s
}
