package kafka

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// controllerID is the node ID of a controller that is no broker; brokers count
// from 0.
const controllerID = 1000

// log4j sends the log to the node's output, which is its file.
const log4j = `status = error
rootLogger.level = info
rootLogger.appenderRef.stdout.ref = STDOUT
appender.stdout.type = Console
appender.stdout.name = STDOUT
appender.stdout.layout.type = PatternLayout
appender.stdout.layout.pattern = [%d] %p %m (%c)%n
`

// node is one process of a cluster.
type node struct {
	id int32
	// rack is empty where it has none.
	rack string
	// broker and controller are the node's roles and the ports of each; zero
	// where it lacks the role.
	broker, controller port
	// secured are the ports of the further listeners, in their order.
	secured []port
	dir     string
	process *process
}

func (n *node) isBroker() bool     { return n.broker.number != 0 }
func (n *node) isController() bool { return n.controller.number != 0 }
func (n *node) address() string    { return n.broker.address() }
func (n *node) logPath() string    { return filepath.Join(n.dir, "node.log") }
func (n *node) properties() string { return filepath.Join(n.dir, "server.properties") }

// release gives the ports back.
func (n *node) release() {
	if n.isBroker() {
		n.broker.release()
	}
	if n.isController() {
		n.controller.release()
	}
	for _, p := range n.secured {
		p.release()
	}
}

// base are the options of every node.
func (n *node) base(voters string, options *Options) map[string]string {
	brokers := options.Brokers
	config := map[string]string{
		"node.id":                        fmt.Sprint(n.id),
		"controller.quorum.voters":       voters,
		"controller.listener.names":      "CONTROLLER",
		"listener.security.protocol.map": protocols(options.Listeners),
		"log.dirs":                       filepath.Join(n.dir, "data"),
		"auto.create.topics.enable":      "false",
		// Kafka's internal topics ask for three brokers by default.
		"offsets.topic.replication.factor":                 fmt.Sprint(min(3, brokers)),
		"transaction.state.log.replication.factor":         fmt.Sprint(min(3, brokers)),
		"transaction.state.log.min.isr":                    "1",
		"share.coordinator.state.topic.replication.factor": fmt.Sprint(min(3, brokers)),
		"share.coordinator.state.topic.min.isr":            "1",
		"offsets.topic.num.partitions":                     "3",
		"transaction.state.log.num.partitions":             "3",
	}
	if n.rack != "" {
		config["broker.rack"] = n.rack
	}
	return config
}

// render writes the node's files. The options of the caller come last and win.
func (n *node) render(voters string, options *Options) error {
	var roles, listeners []string
	config := n.base(voters, options)
	if n.isBroker() {
		roles = append(roles, "broker")
		listeners = append(listeners, "PLAINTEXT://"+n.address())
		for i, p := range n.secured {
			listeners = append(listeners, options.Listeners[i].Name+"://"+p.address())
		}
		config["advertised.listeners"] = strings.Join(listeners, ",")
		config["inter.broker.listener.name"] = "PLAINTEXT"
	}
	if n.isController() {
		roles = append(roles, "controller")
		listeners = append(listeners, "CONTROLLER://"+n.controller.address())
	}
	config["process.roles"] = strings.Join(roles, ",")
	config["listeners"] = strings.Join(listeners, ",")
	if options.Authorize {
		maps.Copy(config, authorizer)
	}
	if err := os.MkdirAll(n.dir, 0o755); err != nil {
		return fmt.Errorf("making the folder of kafka node %d: %w", n.id, err)
	}
	if n.isBroker() {
		for _, l := range options.Listeners {
			more, err := l.render(n.dir, options)
			if err != nil {
				return fmt.Errorf("preparing the listener %s of kafka node %d: %w", l.Name, n.id, err)
			}
			maps.Copy(config, more)
		}
	}
	maps.Copy(config, options.Config)

	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(config)) {
		// A backslash escapes in a file of properties.
		fmt.Fprintf(&text, "%s=%s\n", name, strings.ReplaceAll(config[name], `\`, `\\`))
	}
	if err := os.WriteFile(n.properties(), []byte(text.String()), 0o644); err != nil {
		return fmt.Errorf("writing the configuration of kafka node %d: %w", n.id, err)
	}
	if err := os.WriteFile(filepath.Join(n.dir, "log4j2.properties"), []byte(log4j), 0o644); err != nil {
		return fmt.Errorf("writing the configuration of kafka node %d: %w", n.id, err)
	}
	return nil
}

// jvm are the arguments of a Java command that starts fast and stays small.
func (c *Cluster) jvm(heap string, args ...string) []string {
	classPath := strings.Join(append([]string{filepath.Join(c.libs, "*")}, c.options.ClassPath...), string(filepath.ListSeparator))
	return append([]string{"-Xmx" + heap, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", classPath}, args...)
}

// format prepares an empty data folder.
func (c *Cluster) format(ctx context.Context, n *node) error {
	args := append([]string{
		"kafka.tools.StorageTool", "format",
		"--cluster-id", c.id, "--release-version", c.options.MetadataVersion, "--config", n.properties(),
	}, c.options.scrams()...)
	cmd := exec.CommandContext(ctx, c.java, c.jvm("128m", args...)...)
	cmd.SysProcAttr = childAttr()
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("formatting kafka node %d at metadata version %s: %w\n%s",
			n.id, c.options.MetadataVersion, err, lastLines(string(output), 20))
	}
	return nil
}

// start starts the process, which outlives whatever it was started for.
func (c *Cluster) start(n *node) error {
	cmd := exec.Command(c.java, c.jvm(c.options.Heap,
		"-Dlog4j2.configurationFile="+filepath.Join(n.dir, "log4j2.properties"),
		// Kafka reads keys of tokens from nowhere else (BrokerJwtValidator).
		"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls=file://"+keysPath(n.dir),
		"-Dorg.apache.kafka.sasl.oauthbearer.allowed.files="+keysPath(n.dir), "kafka.Kafka", n.properties())...)
	var err error
	if n.process, err = startProcess(cmd, n.logPath()); err != nil {
		return fmt.Errorf("starting kafka node %d: %w", n.id, err)
	}
	return nil
}
