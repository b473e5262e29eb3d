package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-kafka/sluice/test/harness"
)

// forever is a script that ends when it is asked to.
const forever = "trap 'echo stopping; exit 0' TERM; while :; do sleep 0.1; done"

// podsNamespace is where the tests of nodes have their pods.
const podsNamespace = "pods"

// shell is a pod whose container runs a script of the shell.
func shell(namespace, name, script string, change ...func(*corev1.Pod)) *corev1.Pod {
	grace := int64(5)
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"app": name}},
		Spec: corev1.PodSpec{
			TerminationGracePeriodSeconds: &grace,
			Containers:                    []corev1.Container{{Name: "main", Image: harness.HostImage, Command: []string{"sh", "-c"}, Args: []string{script}}},
		},
	}
	for _, f := range change {
		f(p)
	}
	return p
}

// nodeTest is what the tests of nodes share.
type nodeTest struct {
	*harness.ControlPlane
	nodes *harness.Nodes
}

func (n nodeTest) create(t *testing.T, objects ...client.Object) {
	t.Helper()
	create(t, n.Client, objects...)
}

func create(t *testing.T, c client.Client, objects ...client.Object) {
	t.Helper()
	for _, o := range objects {
		if err := c.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
}

// run creates a pod and waits until it is ready.
func (n nodeTest) run(t *testing.T, p *corev1.Pod) *corev1.Pod {
	t.Helper()
	n.create(t, p)
	return awaitReady(t, n.Client, client.ObjectKeyFromObject(p))
}

func (n nodeTest) log(p *corev1.Pod) string {
	raw, _ := os.ReadFile(filepath.Join(n.nodes.PodLogs, p.Namespace+"_"+p.Name, "main.log"))
	return string(raw)
}

// says waits until the container's log holds the text.
func (n nodeTest) says(t *testing.T, p *corev1.Pod, want string) {
	t.Helper()
	eventually(t, func() error {
		if text := n.log(p); !strings.Contains(text, want) {
			return fmt.Errorf("the log of %s lacks %q:\n%s", p.Name, want, text)
		}
		return nil
	})
}

// becomes waits until the pod's status is as wanted.
func (n nodeTest) becomes(t *testing.T, p *corev1.Pod, want func(*corev1.Pod) error) *corev1.Pod {
	t.Helper()
	var seen *corev1.Pod
	eventually(t, func() error {
		var err error
		if seen, err = getPod(t, n.Client, client.ObjectKeyFromObject(p)); err != nil {
			return err
		}
		return want(seen)
	})
	return seen
}

func (n nodeTest) delete(t *testing.T, o client.Object, opts ...client.DeleteOption) {
	t.Helper()
	if err := n.Client.Delete(t.Context(), o, opts...); err != nil {
		t.Fatal(err)
	}
}

// isGone waits until the object is.
func (n nodeTest) isGone(t *testing.T, o client.Object) {
	t.Helper()
	eventually(t, func() error {
		err := n.Client.Get(t.Context(), client.ObjectKeyFromObject(o), o)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(err, fmt.Errorf("%s is still there", o.GetName()))
	})
}

// waiting wants the container to wait for that reason.
func waiting(reason, message string) func(*corev1.Pod) error {
	return func(p *corev1.Pod) error {
		for _, c := range p.Status.ContainerStatuses {
			if w := c.State.Waiting; w != nil && w.Reason == reason && strings.Contains(w.Message, message) {
				return nil
			}
		}
		return fmt.Errorf("the container does not wait for %s %q: %+v", reason, message, p.Status.ContainerStatuses)
	}
}

// process is the container's process ID.
func process(t *testing.T, p *corev1.Pod) int {
	t.Helper()
	pid, err := strconv.Atoi(strings.TrimPrefix(p.Status.ContainerStatuses[0].ContainerID, "process://"))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func ended(pid int) error {
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("process %d still runs (%w)", pid, err)
	}
	return nil
}

func TestNodes(t *testing.T) {
	cp, nodes := startNodes(t, harness.NodesOptions{Nodes: map[string]map[string]string{
		"node-a": {corev1.LabelTopologyZone: "a"}, "node-b": {corev1.LabelTopologyZone: "b"},
	}})
	n := nodeTest{ControlPlane: cp, nodes: nodes}
	n.create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: podsNamespace}})
	for name, test := range map[string]func(*testing.T){
		"a container gets its environment":                      n.environment,
		"a missing key holds the container until it is there":   n.missingKey,
		"an unknown image holds the container":                  n.unknownImage,
		"init containers run first and in order":                n.initContainers,
		"an object that a volume needs holds the pod":           n.missingVolume,
		"volumes follow their sources":                          n.refreshed,
		"a claim's data outlive the pod but not the claim":      n.claimKeeps,
		"a claim may grow":                                      n.claimGrows,
		"readiness follows the probe, and endpoints follow it":  n.readiness,
		"a failed liveness probe restarts the container":        n.liveness,
		"a crashing container is restarted after a back-off":    n.crash,
		"a container that succeeds ends its pod":                n.succeeds,
		"a deleted pod may end in its own time":                 n.gracefulEnd,
		"a pod that does not end is killed after its grace":     n.killedAfterGrace,
		"a pod that is deleted by force is killed":              n.forceDeleted,
		"a pod is where its node selector wants it":             n.nodeSelector,
		"a pod waits for a node that its affinity allows":       n.nodeAffinity,
		"pods reach each other by name":                         n.names,
		"a namespace goes with its pods":                        n.namespaceGoes,
		"a test can kill, hold, pause and cut off a pod":        n.commands,
		"an eviction waits for the budget":                      n.eviction,
		"what comes from this machine cannot be written to":     n.readOnly,
		"a ready pod stays ready while its status is untouched": n.quiet,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t)
		})
	}
}

func (n nodeTest) environment(t *testing.T) {
	p := shell(podsNamespace, "environment", `echo "$NAME in $SPACE on $NODE at $IP with $LIMIT: $BOTH $(hostname) $HOSTNAME $WORD"; `+forever, func(p *corev1.Pod) {
		p.Spec.Hostname = "host"
		field := func(name, path string) corev1.EnvVar {
			return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}}
		}
		c := &p.Spec.Containers[0]
		c.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: quantity("300Mi")}
		c.Env = []corev1.EnvVar{
			field("NAME", "metadata.name"), field("SPACE", "metadata.namespace"), field("NODE", "spec.nodeName"), field("IP", "status.podIP"),
			{Name: "LIMIT", ValueFrom: &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.memory", Divisor: quantity("1Mi")}}},
			{Name: "BOTH", Value: "$(NAME)-$(LIMIT) $$(NAME) $(NOTHING)"},
		}
		c.EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "environment"}}}}
	})
	n.create(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: podsNamespace, Name: "environment"}, StringData: map[string]string{"WORD": "secret"}})
	p = n.run(t, p)
	n.says(t, p, fmt.Sprintf("environment in pods on %s at %s with 300: environment-300 $(NAME) $(NOTHING) host host secret\n", p.Spec.NodeName, p.Status.PodIP))
}

func (n nodeTest) missingKey(t *testing.T) {
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: podsNamespace, Name: "missing-key"}, Data: map[string]string{"other": "x"}}
	p := shell(podsNamespace, "missing-key", `echo "rack is $RACK"; `+forever, func(p *corev1.Pod) {
		p.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "RACK", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: "missing-key"}, Key: "rack",
		}}}}
	})
	n.create(t, p)
	n.becomes(t, p, waiting("CreateContainerConfigError", `configmaps "missing-key" not found`))
	n.create(t, cm)
	held := n.becomes(t, p, waiting("CreateContainerConfigError", "couldn't find key rack in ConfigMap pods/missing-key"))
	if held.Status.Phase != corev1.PodPending || n.log(p) != "" {
		t.Errorf("phase %s, log %q", held.Status.Phase, n.log(p))
	}
	cm.Data["rack"] = "zone-a"
	if err := n.Client.Update(t.Context(), cm); err != nil {
		t.Fatal(err)
	}
	awaitReady(t, n.Client, client.ObjectKeyFromObject(p))
	n.says(t, p, "rack is zone-a")
}

func (n nodeTest) unknownImage(t *testing.T) {
	p := shell(podsNamespace, "unknown-image", forever, func(p *corev1.Pod) { p.Spec.Containers[0].Image = "no/such:image" })
	n.create(t, p)
	n.becomes(t, p, waiting("ErrImagePull", `this node has no image "no/such:image"`))
	n.delete(t, p)
	n.isGone(t, p)
}

func (n nodeTest) initContainers(t *testing.T) {
	p := shell(podsNamespace, "inits", "cat /shared/text; "+forever, func(p *corev1.Pod) {
		mount := []corev1.VolumeMount{{Name: "shared", MountPath: "/shared"}}
		p.Spec.Volumes = []corev1.Volume{{Name: "shared", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
		p.Spec.Containers[0].VolumeMounts = mount
		for _, c := range []struct{ name, script string }{
			// Fails at first.
			{"first", "test -e /shared/tried || { touch /shared/tried; exit 3; }; echo one >> /shared/text"},
			{"second", "echo two >> /shared/text"},
		} {
			p.Spec.InitContainers = append(p.Spec.InitContainers, corev1.Container{Name: c.name, Image: harness.HostImage, Command: []string{"sh", "-c", c.script}, VolumeMounts: mount})
		}
	})
	p = n.run(t, p)
	n.says(t, p, "one\ntwo\n")
	for i, restarts := range []int32{1, 0} {
		if s := p.Status.InitContainerStatuses[i]; s.State.Terminated == nil || s.State.Terminated.ExitCode != 0 || s.RestartCount != restarts {
			t.Errorf("status of init container %s: %+v", s.Name, s)
		}
	}
}

func (n nodeTest) readiness(t *testing.T) {
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: podsNamespace, Name: "readiness"}, Data: map[string]string{"ready": "no"}}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: podsNamespace, Name: "readiness"}, Spec: corev1.ServiceSpec{
		Selector: map[string]string{"app": "readiness"}, Ports: []corev1.ServicePort{{Port: 80}},
	}}
	p := shell(podsNamespace, "readiness", forever, func(p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{configMapVolume("config", "readiness")}
		p.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "config", MountPath: "/config"}}
		p.Spec.Containers[0].ReadinessProbe = &corev1.Probe{PeriodSeconds: 1, FailureThreshold: 2, ProbeHandler: corev1.ProbeHandler{
			Exec: &corev1.ExecAction{Command: []string{"grep", "-q", "yes", "/config/ready"}},
		}}
	})
	n.create(t, cm, service, p)
	n.becomes(t, p, func(p *corev1.Pod) error {
		if p.Status.Phase != corev1.PodRunning || isReady(p) || !*p.Status.ContainerStatuses[0].Started {
			return fmt.Errorf("not running and unready: %+v", p.Status)
		}
		return nil
	})
	for _, ready := range []bool{true, false} {
		cm.Data["ready"] = map[bool]string{true: "yes", false: "no"}[ready]
		if err := n.Client.Update(t.Context(), cm); err != nil {
			t.Fatal(err)
		}
		p := n.becomes(t, p, func(p *corev1.Pod) error {
			if isReady(p) != ready {
				return fmt.Errorf("ready: %t, status %+v", !ready, p.Status)
			}
			return nil
		})
		eventually(t, func() error { return n.hasEndpoint(t, service, p.Status.PodIP, ready) })
	}
}

func (n nodeTest) hasEndpoint(t *testing.T, s *corev1.Service, ip string, ready bool) error {
	var slices discoveryv1.EndpointSliceList
	if err := n.Client.List(t.Context(), &slices, client.InNamespace(s.Namespace), client.MatchingLabels{discoveryv1.LabelServiceName: s.Name}); err != nil {
		return err
	}
	for _, slice := range slices.Items {
		for _, e := range slice.Endpoints {
			if e.Addresses[0] == ip && *e.Conditions.Ready == ready {
				return nil
			}
		}
	}
	return fmt.Errorf("no endpoint %s of service %s with ready: %t in %+v", ip, s.Name, ready, slices.Items)
}

func (n nodeTest) liveness(t *testing.T) {
	p := shell(podsNamespace, "liveness", "touch /tmp/alive; echo up; "+forever, func(p *corev1.Pod) {
		p.Spec.Containers[0].StartupProbe = &corev1.Probe{PeriodSeconds: 1, ProbeHandler: corev1.ProbeHandler{
			Exec: &corev1.ExecAction{Command: []string{"cat", "/tmp/alive"}},
		}}
		// The first look passes and takes its reason to pass away.
		p.Spec.Containers[0].LivenessProbe = &corev1.Probe{PeriodSeconds: 1, FailureThreshold: 1, ProbeHandler: corev1.ProbeHandler{
			Exec: &corev1.ExecAction{Command: []string{"rm", "/tmp/alive"}},
		}}
	})
	n.create(t, p)
	n.becomes(t, p, func(p *corev1.Pod) error {
		if s := p.Status.ContainerStatuses; len(s) != 1 || s[0].RestartCount == 0 || s[0].LastTerminationState.Terminated == nil {
			return fmt.Errorf("not restarted: %+v", s)
		}
		return nil
	})
	if text := n.log(p); !strings.Contains(text, "up\nstopping\nup\n") {
		t.Errorf("log: %s", text)
	}
}

func (n nodeTest) crash(t *testing.T) {
	p := shell(podsNamespace, "crash", `echo run >> /keep/runs; test $(wc -l < /keep/runs) -ge 3 || exit 7; `+forever, func(p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{{Name: "keep", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
		p.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "keep", MountPath: "/keep"}}
	})
	n.create(t, p)
	n.becomes(t, p, waiting("CrashLoopBackOff", "back-off 1s"))
	p = awaitReady(t, n.Client, client.ObjectKeyFromObject(p))
	if s := p.Status.ContainerStatuses[0]; s.RestartCount != 2 || s.LastTerminationState.Terminated.ExitCode != 7 {
		t.Errorf("status: %+v", s)
	}
}

func (n nodeTest) succeeds(t *testing.T) {
	p := shell(podsNamespace, "succeeds", "echo done", func(p *corev1.Pod) { p.Spec.RestartPolicy = corev1.RestartPolicyNever })
	n.create(t, p)
	n.becomes(t, p, func(p *corev1.Pod) error {
		if p.Status.Phase != corev1.PodSucceeded {
			return fmt.Errorf("phase %s", p.Status.Phase)
		}
		return nil
	})
	n.delete(t, p)
	n.isGone(t, p)
}

func (n nodeTest) gracefulEnd(t *testing.T) {
	p := n.run(t, shell(podsNamespace, "graceful", forever, func(p *corev1.Pod) {
		grace := int64(600)
		p.Spec.TerminationGracePeriodSeconds = &grace
	}))
	pid := process(t, p)
	n.delete(t, p)
	n.isGone(t, p)
	n.says(t, p, "stopping")
	if err := ended(pid); err != nil {
		t.Error(err)
	}
}

// deaf ignores the request to end.
const deaf = "trap '' TERM; while :; do sleep 0.1; done"

func (n nodeTest) killedAfterGrace(t *testing.T) {
	p := n.run(t, shell(podsNamespace, "deaf", deaf))
	pid := process(t, p)
	asked := time.Now()
	n.delete(t, p, client.GracePeriodSeconds(3))
	if _, err := getPod(t, n.Client, client.ObjectKeyFromObject(p)); err != nil {
		t.Fatalf("the pod did not wait for its processes: %v", err)
	}
	n.isGone(t, p)
	if took := time.Since(asked); took < 3*time.Second {
		t.Errorf("the pod had only %s of its 3 s", took)
	}
	if err := ended(pid); err != nil {
		t.Error(err)
	}
}

func (n nodeTest) forceDeleted(t *testing.T) {
	p := n.run(t, shell(podsNamespace, "forced", deaf))
	pid := process(t, p)
	n.delete(t, p, client.GracePeriodSeconds(0))
	eventually(t, func() error { return ended(pid) })
}

func (n nodeTest) nodeAffinity(t *testing.T) {
	p := shell(podsNamespace, "affinity", forever, func(p *corev1.Pod) {
		p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "disk", Operator: corev1.NodeSelectorOpExists}},
			}}},
		}}
	})
	n.create(t, p)
	n.becomes(t, p, func(p *corev1.Pod) error {
		for _, c := range p.Status.Conditions {
			if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable && p.Spec.NodeName == "" {
				return nil
			}
		}
		return fmt.Errorf("on node %q, conditions %+v", p.Spec.NodeName, p.Status.Conditions)
	})
	node := &corev1.Node{}
	node.Name = "node-b"
	if err := n.Client.Patch(t.Context(), node, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"disk":"fast"}}}`))); err != nil {
		t.Fatal(err)
	}
	awaitReady(t, n.Client, client.ObjectKeyFromObject(p))
	if p, err := getPod(t, n.Client, client.ObjectKeyFromObject(p)); err != nil || p.Spec.NodeName != "node-b" {
		t.Errorf("on node %q (%v)", p.Spec.NodeName, err)
	}
}

func (n nodeTest) nodeSelector(t *testing.T) {
	for _, zone := range []string{"b", "a", "b"} {
		p := shell(podsNamespace, "zone-"+zone, forever, func(p *corev1.Pod) {
			p.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: zone}
		})
		if p = n.run(t, p); p.Spec.NodeName != "node-"+zone {
			t.Errorf("a pod for zone %s runs on %s", zone, p.Spec.NodeName)
		}
		n.delete(t, p)
		n.isGone(t, p)
	}
}

func (n nodeTest) names(t *testing.T) {
	labels := map[string]string{"app": "names"}
	n.create(t, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: podsNamespace, Name: "names"}, Spec: corev1.ServiceSpec{
		ClusterIP: corev1.ClusterIPNone, Selector: labels, PublishNotReadyAddresses: true, Ports: []corev1.ServicePort{{Port: 80}},
	}})
	named := func(name string) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Labels, p.Spec.Hostname, p.Spec.Subdomain = labels, name, "names" }
	}
	one := n.run(t, shell(podsNamespace, "name-one", "hostname -f; "+forever, named("one")))
	n.says(t, one, "one.names.pods.svc.cluster.local\n")
	two := shell(podsNamespace, "name-two",
		"for peer in one.names.pods.svc one.names.pods.svc.cluster.local; do until getent hosts $peer; do sleep 0.1; done; done | tr -s ' '; getent ahosts names.pods.svc; "+forever, named("two"))
	two = n.run(t, two)
	line := one.Status.PodIP + " one.names.pods.svc.cluster.local one.names.pods.svc"
	n.says(t, two, line)
	if text := n.log(two); strings.Count(text, line) != 2 {
		t.Errorf("two names of one pod:\n%s", text)
	}
	if one.Status.PodIP == two.Status.PodIP {
		t.Errorf("both pods have %s", one.Status.PodIP)
	}
}

func (n nodeTest) namespaceGoes(t *testing.T) {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "goes"}}
	n.create(t, ns)
	p := n.run(t, shell("goes", "pod", forever))
	pid := process(t, p)
	n.delete(t, ns)
	n.isGone(t, ns)
	if err := ended(pid); err != nil {
		t.Error(err)
	}
}

func (n nodeTest) commands(t *testing.T) {
	p := n.run(t, shell(podsNamespace, "commands", "exec python3 -m http.server --bind 0.0.0.0 8080", func(p *corev1.Pod) {
		probe := &corev1.Probe{PeriodSeconds: 1, FailureThreshold: 1, ProbeHandler: corev1.ProbeHandler{
			HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromInt32(8080)},
		}}
		p.Spec.Containers[0].ReadinessProbe = probe
	}))
	key := client.ObjectKeyFromObject(p)
	do := func(what string, f func(context.Context, types.NamespacedName) error) {
		t.Helper()
		if err := f(t.Context(), key); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	is := func(ready bool, restarts int32) func(*corev1.Pod) error {
		return func(p *corev1.Pod) error {
			if s := p.Status.ContainerStatuses[0]; s.Ready != ready || s.RestartCount != restarts {
				return fmt.Errorf("wanted ready %t and %d restarts: %+v", ready, restarts, s)
			}
			return nil
		}
	}
	do("kill", n.nodes.Kill)
	n.becomes(t, p, is(true, 1))
	do("hold", n.nodes.Hold)
	n.becomes(t, p, waiting("HeldDown", ""))
	n.delete(t, p)
	n.isGone(t, p)
	p.ResourceVersion, p.UID, p.Spec.NodeName = "", "", ""
	n.create(t, p)
	n.becomes(t, p, waiting("HeldDown", ""))
	if err := n.nodes.Kill(t.Context(), key); err == nil {
		t.Error("killing what does not run is no error")
	}
	do("release", n.nodes.Release)
	n.becomes(t, p, is(true, 0))
	do("pause", n.nodes.Pause)
	n.becomes(t, p, is(false, 0))
	do("resume", n.nodes.Resume)
	n.becomes(t, p, is(true, 0))
	do("disconnect", n.nodes.Disconnect)
	n.becomes(t, p, is(false, 0))
	do("connect", n.nodes.Connect)
	n.becomes(t, p, is(true, 0))
}

func (n nodeTest) eviction(t *testing.T) {
	one := intstr.FromInt32(1)
	budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: podsNamespace, Name: "evicted"}, Spec: policyv1.PodDisruptionBudgetSpec{
		MinAvailable: &one, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "evicted"}},
	}}
	n.create(t, budget)
	p := n.run(t, shell(podsNamespace, "evicted", forever))
	eventually(t, func() error {
		err := n.Client.Get(t.Context(), client.ObjectKeyFromObject(budget), budget)
		if err == nil && budget.Status.CurrentHealthy != 1 {
			err = fmt.Errorf("the budget counts %+v", budget.Status)
		}
		return err
	})
	evict := func() error {
		return n.Client.SubResource("eviction").Create(t.Context(), p, &policyv1.Eviction{})
	}
	if err := evict(); !apierrors.IsTooManyRequests(err) {
		t.Fatalf("evicting the only pod: %v", err)
	}
	n.delete(t, budget)
	eventually(t, evict)
	n.isGone(t, p)
}

func (n nodeTest) readOnly(t *testing.T) {
	p := n.run(t, shell(podsNamespace, "read-only", `touch /etc/sluice-test /usr/sluice-test; touch /tmp/mine /mine && echo mine; `+forever))
	n.says(t, p, "mine\n")
	for _, file := range []string{"/etc/sluice-test", "/usr/sluice-test", "/tmp/mine", "/mine"} {
		if _, err := os.Stat(file); err == nil {
			t.Errorf("the pod has made %s on this machine", file)
		}
	}
	if text := n.log(p); strings.Count(text, "Read-only file system") != 2 {
		t.Errorf("log: %s", text)
	}
}

func (n nodeTest) quiet(t *testing.T) {
	p := n.run(t, shell(podsNamespace, "quiet", `trap exit TERM; while :; do echo probes: $(cat /tmp/probes | wc -l); sleep 0.5; done`, func(p *corev1.Pod) {
		p.Spec.Containers[0].ReadinessProbe = &corev1.Probe{PeriodSeconds: 1, ProbeHandler: corev1.ProbeHandler{
			Exec: &corev1.ExecAction{Command: []string{"sh", "-c", "echo probe >> /tmp/probes"}},
		}}
	}))
	n.says(t, p, "probes: 4\n")
	again, err := getPod(t, n.Client, client.ObjectKeyFromObject(p))
	if err != nil || again.ResourceVersion != p.ResourceVersion {
		t.Errorf("the pod was written to with no news: %v, %s, then %s", err, p.ResourceVersion, again.ResourceVersion)
	}
}
