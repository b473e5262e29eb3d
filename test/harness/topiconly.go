package harness

import (
	"context"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/client-go/rest"
)

// TopicOnly is a Deployment of a topic-only Sluice, whose pod is run as a process of
// this machine.
type TopicOnly struct {
	*ControlPlane
	// Deployment is in its namespace.
	Deployment *appsv1.Deployment
	// APIServer has the address and the CA with which it finds the API server.
	APIServer *rest.Config
	// Env is added to the container's, and wins.
	Env map[string]string
	// Dir for the log and the kubeconfig.
	Dir string
}

// Start runs the container with its own arguments and variables, and nothing of this
// process's environment, and returns when it is ready. What a kubelet would bring is
// replaced: the token is in a kubeconfig, and the port is a free one of loopback.
func (o TopicOnly) Start(ctx context.Context) (*Operator, error) {
	executable, err := Binary(ctx)
	if err != nil {
		return nil, err
	}
	return onFreePorts(func() (*Operator, error) { return o.start(ctx, executable) })
}

func (o TopicOnly) start(ctx context.Context, executable string) (*Operator, error) {
	pod := o.Deployment.Spec.Template.Spec
	kubeconfig, err := o.accountKubeconfig(ctx, o.Dir, o.Deployment.Namespace, pod.ServiceAccountName, o.APIServer)
	if err != nil {
		return nil, err
	}
	port, err := FreePort()
	if err != nil {
		return nil, err
	}
	address := "127.0.0.1:" + strconv.Itoa(port)
	env := map[string]string{"KUBECONFIG": kubeconfig, "SLUICE_METRICS_BIND_ADDRESS": address}
	for _, e := range pod.Containers[0].Env {
		env[e.Name] = e.Value
		if e.ValueFrom != nil && e.ValueFrom.FieldRef != nil && e.ValueFrom.FieldRef.FieldPath == "metadata.namespace" {
			env[e.Name] = o.Deployment.Namespace
		}
	}
	maps.Copy(env, o.Env)
	cmd := exec.Command(executable, pod.Containers[0].Args...)
	for _, name := range slices.Sorted(maps.Keys(env)) {
		cmd.Env = append(cmd.Env, name+"="+env[name])
	}
	op := &Operator{
		MetricsURL: fmt.Sprintf("http://%s/metrics", address),
		Log:        filepath.Join(o.Dir, "log"),
		ready:      fmt.Sprintf("http://%s%s", address, pod.Containers[0].ReadinessProbe.HTTPGet.Path),
	}
	return op.run(ctx, cmd)
}
