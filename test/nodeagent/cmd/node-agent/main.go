//go:build linux

// Command node-agent runs the pods of a test API server as processes of this
// machine, on as many nodes as it is told to register.
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/sluice-kafka/sluice/test/nodeagent/agent"
	"github.com/sluice-kafka/sluice/test/nodeagent/sandbox"
)

// ready is printed when pods can come.
const ready = "node-agent is running"

func main() {
	sandbox.Main()
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "node-agent:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	config := agent.Config{
		Images: map[string]agent.Image{}, Env: map[string]string{},
		Log: slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	flags := flag.NewFlagSet("node-agent", flag.ExitOnError)
	kubeconfig := flags.String("kubeconfig", "", "path of the kubeconfig file")
	network := flags.String("network", "10.200.0.1/16", "address and prefix of the pod network's bridge")
	flags.StringVar(&config.Root, "root", "", "folder of pods and claims")
	flags.StringVar(&config.Logs, "logs", "", "folder of the containers' output")
	flags.StringVar(&config.Hosts, "hosts", "", "file to keep the names of services and pods in")
	flags.DurationVar(&config.BackOff, "back-off", time.Second, "wait before the second restart in a row; it doubles")
	flags.DurationVar(&config.MaxBackOff, "max-back-off", 10*time.Second, "longest wait before a restart")
	flags.Func("node", "NAME[,LABEL=VALUE]..., once for each node", func(s string) error {
		name, rest, _ := strings.Cut(s, ",")
		node := agent.Node{Name: name, Labels: map[string]string{}}
		for rest != "" {
			var pair string
			pair, rest, _ = strings.Cut(rest, ",")
			key, value, _ := strings.Cut(pair, "=")
			node.Labels[key] = value
		}
		config.Nodes = append(config.Nodes, node)
		return nil
	})
	flags.Func("image", "IMAGE[=FOLDER:PATH], the folder to mount at the path for an image", func(s string) error {
		image, rest, hasFolder := strings.Cut(s, "=")
		folder, path, hasPath := strings.Cut(rest, ":")
		if hasFolder != hasPath {
			return fmt.Errorf("%q is not IMAGE[=FOLDER:PATH]", s)
		}
		config.Images[image] = agent.Image{Folder: folder, Path: path}
		return nil
	})
	flags.Func("env", "NAME=VALUE, set in every container that does not set it", func(s string) error {
		name, value, _ := strings.Cut(s, "=")
		config.Env[name] = value
		return nil
	})
	if err := flags.Parse(args); err != nil {
		return err
	}
	return serve(ctx, config, *kubeconfig, *network)
}

func serve(ctx context.Context, config agent.Config, kubeconfig, network string) error {
	rest, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return fmt.Errorf("reading the kubeconfig: %w", err)
	}
	// A burst of pods is what this is for.
	rest.QPS, rest.Burst = 200, 400
	if config.Client, err = kubernetes.NewForConfig(rest); err != nil {
		return err
	}
	if config.Network, err = sandbox.NewNetwork("pods", network); err != nil {
		return err
	}
	if err := os.MkdirAll(config.Root, 0o755); err != nil {
		return err
	}
	a := agent.New(config)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return a.ServeControl(ctx, filepath.Join(config.Root, agent.SocketName)) })
	group.Go(func() error { return a.Run(ctx, func() { fmt.Println(ready) }) })
	return group.Wait()
}
