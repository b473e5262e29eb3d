package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// NodeAgent is the name of the command that runs pods as processes.
const NodeAgent = "node-agent"

// nodeAgentReady is what that command prints when pods can come.
const nodeAgentReady = "node-agent is running"

// hostsFile is this machine's, or where Isolate has been the test cluster's: the
// node agent keeps the names of services and pods in it.
const hostsFile = "/etc/hosts"

// The pod network: the address of its bridge, which is this process's side of it,
// and its prefix.
const (
	gateway    = "10.200.0.1"
	podNetwork = gateway + "/16"
)

var nodeAgent = module{
	path:      "test/nodeagent",
	cache:     "nodeagent",
	of:        "a node agent with client-go",
	main:      "k8s.io/client-go",
	sources:   true,
	buildTime: map[string]string{NodeAgent: "1 to 2 minutes"},
}

// NodeAgentAssets returns the folder that holds the command NodeAgent, which is
// built where it is missing.
func NodeAgentAssets(ctx context.Context, out io.Writer) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	return nodeAgent.build(ctx, root, out, NodeAgent)
}

// Image stands for a container image on nodes: a folder, and the path that it is
// mounted at, read-only.
type Image struct {
	Folder, Path string
}

// HostImage is an image that has nothing but this machine's own files, as all
// others have beneath.
const HostImage = "host"

// NodesOptions of nodes.
type NodesOptions struct {
	// Nodes to register, with their labels.
	Nodes map[string]map[string]string
	// Images by the name that pods give them, beside HostImage. A container of any
	// other waits, as if it could not be pulled.
	Images map[string]Image
	// Env is set in every container that does not set it itself.
	Env map[string]string
	// BackOff and MaxBackOff between restarts of a container; 1 s and 10 s where
	// they are zero.
	BackOff, MaxBackOff time.Duration
	// Out is told of long steps.
	Out io.Writer
}

// Nodes run the pods of a control plane as processes of this machine, each pod in
// a network of its own that this process reaches. What differs from a cluster:
// the root file system of containers is this machine's, read-only but for /, /tmp
// and /run; users, capabilities and limits are not set; a container's ID names
// its process (process://PID); a claim is a folder and may grow; names of
// services lead to their pods, also where the service has an address; and nothing
// stands for that address.
type Nodes struct {
	// Log is the agent's; those of containers are in PodLogs, as
	// NAMESPACE_POD/CONTAINER.log, one over all restarts and pods of the name.
	Log, PodLogs string

	root    string
	client  *http.Client
	process *process
}

// StartNodes registers nodes and runs what pods there come to be; the program
// must be inside of Isolate and the control plane have its controller manager.
// It returns when pods can come. The processes of all pods end with the agent,
// and that with this process.
func (cp *ControlPlane) StartNodes(ctx context.Context, opts NodesOptions) (*Nodes, error) {
	if !isIsolated() {
		return nil, errors.New("starting nodes: pods need a network of their own; call Isolate in main or TestMain first")
	}
	if cp.manager == nil {
		return nil, errors.New("starting nodes: the control plane needs its controller manager (ControlPlaneOptions.ControllerManager)")
	}
	if cp.nodes != nil {
		return nil, errors.New("starting nodes: they have been started already")
	}
	dir, err := NodeAgentAssets(ctx, opts.Out)
	if err != nil {
		return nil, err
	}
	n := &Nodes{
		Log: filepath.Join(cp.Dir, "node-agent.log"), PodLogs: filepath.Join(cp.Dir, "pods"),
		root: filepath.Join(cp.Dir, "nodes"),
	}
	n.client = &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(n.root, "control.sock"))
	}}}
	cmd := exec.Command(filepath.Join(dir, NodeAgent), n.arguments(cp, opts)...)
	if n.process, err = startProcess(cmd, n.Log); err != nil {
		return nil, err
	}
	cp.nodes = n
	return n, n.process.awaitRunning(ctx, "the node agent", nodeAgentReady)
}

func (n *Nodes) arguments(cp *ControlPlane, opts NodesOptions) []string {
	args := []string{"--kubeconfig=" + cp.Kubeconfig, "--root=" + n.root, "--logs=" + n.PodLogs, "--hosts=" + hostsFile, "--network=" + podNetwork}
	for _, name := range slices.Sorted(maps.Keys(opts.Nodes)) {
		node := name
		for _, label := range slices.Sorted(maps.Keys(opts.Nodes[name])) {
			node += "," + label + "=" + opts.Nodes[name][label]
		}
		args = append(args, "--node="+node)
	}
	for _, name := range slices.Sorted(maps.Keys(opts.Images)) {
		args = append(args, "--image="+name+"="+opts.Images[name].Folder+":"+opts.Images[name].Path)
	}
	args = append(args, "--image="+HostImage)
	for _, name := range slices.Sorted(maps.Keys(opts.Env)) {
		args = append(args, "--env="+name+"="+opts.Env[name])
	}
	if opts.BackOff > 0 {
		args = append(args, "--back-off="+opts.BackOff.String())
	}
	if opts.MaxBackOff > 0 {
		args = append(args, "--max-back-off="+opts.MaxBackOff.String())
	}
	return args
}

// Stop kills all pods' processes and then the agent, as a power cut of all
// nodes would; the API knows nothing of it.
func (n *Nodes) Stop() { n.process.stop(startTimeout) }

// Crash ends the agent without warning. All pods' processes end with it.
func (n *Nodes) Crash() { n.process.kill() }

// Kill ends the processes of a pod without warning; its containers are
// restarted as its policy says. The process has ended when Kill returns.
func (n *Nodes) Kill(ctx context.Context, pod types.NamespacedName) error {
	return n.command(ctx, "kill", pod)
}

// Hold ends the processes of a pod without warning and keeps pods of that name
// down, also new ones, until Release.
func (n *Nodes) Hold(ctx context.Context, pod types.NamespacedName) error {
	return n.command(ctx, "hold", pod)
}

// Release lets a pod that is held down start.
func (n *Nodes) Release(ctx context.Context, pod types.NamespacedName) error {
	return n.command(ctx, "release", pod)
}

// Pause stops the processes of a pod where they are (SIGSTOP): its ports still
// accept, but nothing answers.
func (n *Nodes) Pause(ctx context.Context, pod types.NamespacedName) error {
	return n.command(ctx, "pause", pod)
}

// Resume lets the processes of a paused pod go on.
func (n *Nodes) Resume(ctx context.Context, pod types.NamespacedName) error {
	return n.command(ctx, "resume", pod)
}

// Disconnect takes a pod off the network.
func (n *Nodes) Disconnect(ctx context.Context, pod types.NamespacedName) error {
	return n.command(ctx, "disconnect", pod)
}

// Connect puts a pod back on the network.
func (n *Nodes) Connect(ctx context.Context, pod types.NamespacedName) error {
	return n.command(ctx, "connect", pod)
}

func (n *Nodes) command(ctx context.Context, command string, pod types.NamespacedName) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://node-agent/"+command+"/"+pod.String(), nil)
	if err != nil {
		return err
	}
	resp, err := n.client.Do(req)
	if err != nil {
		return fmt.Errorf("telling the node agent to %s pod %s: %w", command, pod, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		message, _ := io.ReadAll(resp.Body)
		return fmt.Errorf("telling the node agent to %s pod %s: %s", command, pod, strings.TrimSpace(string(message)))
	}
	return nil
}

// JVM is the environment of Java processes in pods: addresses of pods change, and
// a JVM would remember a name's for half a minute, and a missing one for 10 s
// (java.net.InetAddress).
func JVM() map[string]string {
	return map[string]string{"JAVA_TOOL_OPTIONS": "-Dsun.net.inetaddr.ttl=1 -Dsun.net.inetaddr.negative.ttl=1"}
}
