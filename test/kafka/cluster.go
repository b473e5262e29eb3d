package kafka

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"
)

// Options say what to start; the zero value is one node of DefaultVersion.
type Options struct {
	// Version of Kafka, one of Versions.
	Version string
	// Brokers is their number. A single one is the controller too; several
	// have a controller beside them.
	Brokers int
	// Racks of the brokers in the order of their IDs; those beyond its end have none.
	Racks []string
	// MetadataVersion to format with; the version's own if empty.
	MetadataVersion string
	// Dir keeps data and logs, and is left there by Stop; a temporary folder,
	// which Stop removes, if empty.
	Dir string
	// Config is added to every node's server.properties.
	Config map[string]string
	// ClassPath has folders with classes of the test's own, such as a policy.
	ClassPath []string
	// Listeners of every broker beside the plain one, on which whatever the tests do
	// themselves stays simple.
	Listeners []Listener
	// Authority signs the certificates of encrypted listeners.
	Authority *Authority
	// Issuer of the tokens that listeners with OAUTHBEARER take.
	Issuer *Issuer
	// Users of PLAIN and SCRAM with their passwords.
	Users map[string]string
	// Authorize has the brokers ask for ACLs. Whoever comes by the plain listener may
	// do everything; the users may do what ACLs allow them.
	Authorize bool
	// Heap of each node, 256m if empty; ten thousand topics need 1g.
	Heap string
	// Out is told of what takes long; standard error if nil.
	Out io.Writer
}

func (o *Options) complete() error {
	if o.Version == "" {
		o.Version = DefaultVersion
	}
	rel, err := releaseOf(o.Version)
	if err != nil {
		return err
	}
	if o.MetadataVersion == "" {
		o.MetadataVersion = rel.metadata
	}
	if o.Brokers == 0 {
		o.Brokers = 1
	}
	if o.Heap == "" {
		o.Heap = "256m"
	}
	if o.Out == nil {
		o.Out = os.Stderr
	}
	return nil
}

// Cluster is a Kafka of real brokers on loopback. Its methods are not to be
// called concurrently.
type Cluster struct {
	// BootstrapServers are the addresses of all brokers. They stay the same
	// when nodes are stopped and started again.
	BootstrapServers []string

	options Options
	id      string
	java    string
	libs    string
	dir     string
	ownDir  bool
	// nodes are the brokers in the order of their IDs, then the controller.
	nodes []*node
}

// Start starts a cluster and returns when all of its brokers are ready. The
// context bounds the start, not the life of the cluster.
func Start(ctx context.Context, options Options) (_ *Cluster, err error) {
	if err := options.complete(); err != nil {
		return nil, err
	}
	c := &Cluster{options: options, dir: options.Dir, id: clusterID()}
	if c.libs, err = Fetch(ctx, options.Version, options.Out); err != nil {
		return nil, err
	}
	if c.java, err = java(); err != nil {
		return nil, fmt.Errorf("starting kafka: %w", err)
	}
	if c.dir == "" {
		c.ownDir = true
		if c.dir, err = os.MkdirTemp("", "sluice-kafka-"); err != nil {
			return nil, fmt.Errorf("making a folder for kafka: %w", err)
		}
	}
	defer func() {
		if err != nil {
			c.Kill()
		}
	}()
	// Kafka takes the relative paths of its configuration from its own folder.
	if c.dir, err = filepath.Abs(c.dir); err != nil {
		return nil, fmt.Errorf("finding the folder for kafka: %w", err)
	}
	if err := c.prepare(ctx); err != nil {
		return nil, err
	}
	for _, n := range c.nodes {
		if err := c.start(n); err != nil {
			return nil, err
		}
	}
	if err := c.awaitReady(ctx, c.nodes, c.Brokers()); err != nil {
		return nil, err
	}
	return c, nil
}

// prepare lays the nodes out and formats them side by side.
func (c *Cluster) prepare(ctx context.Context) error {
	if err := c.layOut(); err != nil {
		return err
	}
	if err := c.render(); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, n := range c.nodes {
		group.Go(func() error { return c.format(ctx, n) })
	}
	return group.Wait()
}

func (c *Cluster) render() error {
	quorum := c.nodes[len(c.nodes)-1]
	voters := fmt.Sprintf("%d@%s", quorum.id, quorum.controller.address())
	for _, n := range c.nodes {
		if err := n.render(voters, &c.options); err != nil {
			return err
		}
	}
	return nil
}

// Configure adds to Options.Config. A node reads it when it is started.
func (c *Cluster) Configure(config map[string]string) error {
	all := maps.Clone(c.options.Config)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, config)
	c.options.Config = all
	return c.render()
}

func (c *Cluster) layOut() error {
	add := func(id int32, broker, controller bool) error {
		n := &node{id: id, dir: filepath.Join(c.dir, fmt.Sprintf("node-%d", id))}
		c.nodes = append(c.nodes, n)
		var err error
		if broker && int(id) < len(c.options.Racks) {
			n.rack = c.options.Racks[id]
		}
		if broker {
			if n.broker, err = reservePort(); err != nil {
				return err
			}
			c.BootstrapServers = append(c.BootstrapServers, n.address())
			for range c.options.Listeners {
				p, err := reservePort()
				if err != nil {
					return err
				}
				n.secured = append(n.secured, p)
			}
		}
		if controller {
			n.controller, err = reservePort()
		}
		return err
	}
	combined := c.options.Brokers == 1
	for i := range c.options.Brokers {
		if err := add(int32(i), true, combined); err != nil {
			return err
		}
	}
	if !combined {
		return add(controllerID, false, true)
	}
	return nil
}

// clusterID is random; the first bits are cleared since an ID that begins with
// a dash would be taken for an option.
func clusterID() string {
	var id [16]byte
	_, _ = rand.Read(id[:])
	id[0] &= 0x3f
	return base64.RawURLEncoding.EncodeToString(id[:])
}

// Bootstrap implements Kafka.
func (c *Cluster) Bootstrap() []string { return c.BootstrapServers }

// String implements Kafka.
func (c *Cluster) String() string {
	return fmt.Sprintf("Apache Kafka %s (brokers: %d, logs in %s)", c.options.Version, c.options.Brokers, c.dir)
}

// Brokers are the node IDs of the brokers.
func (c *Cluster) Brokers() []int32 {
	var ids []int32
	for _, n := range c.nodes {
		if n.isBroker() {
			ids = append(ids, n.id)
		}
	}
	return ids
}

// Controllers are the addresses of the controllers' own listeners.
func (c *Cluster) Controllers() []string {
	var addresses []string
	for _, n := range c.nodes {
		if n.isController() {
			addresses = append(addresses, n.controller.address())
		}
	}
	return addresses
}

// Log is the path of a node's log.
func (c *Cluster) Log(id int32) (string, error) {
	n, err := c.node(id)
	if err != nil {
		return "", err
	}
	return n.logPath(), nil
}

// StopNode stops a node in order.
func (c *Cluster) StopNode(ctx context.Context, id int32) error {
	n, err := c.node(id)
	if err != nil {
		return err
	}
	return n.process.stop(ctx)
}

// KillNode ends a node without warning.
func (c *Cluster) KillNode(id int32) error {
	n, err := c.node(id)
	if err != nil {
		return err
	}
	n.process.kill()
	return nil
}

// StartNode starts a node that is down, on the same ports and with the same
// data, and returns when it is ready. After KillNode that takes until the
// controller has given up the node's earlier session (broker.session.timeout.ms,
// 9 s): it does not let the same ID register twice.
func (c *Cluster) StartNode(ctx context.Context, id int32) error {
	n, err := c.node(id)
	if err != nil {
		return err
	}
	if !n.process.ended() {
		return fmt.Errorf("kafka node %d is running already", id)
	}
	if err := c.start(n); err != nil {
		return err
	}
	return c.awaitReady(ctx, []*node{n}, []int32{id})
}

func (c *Cluster) node(id int32) (*node, error) {
	for _, n := range c.nodes {
		if n.id == id {
			return n, nil
		}
	}
	return nil, fmt.Errorf("the cluster has no kafka node %d; its brokers are %v", id, c.Brokers())
}

// Stop implements Kafka. Brokers stop before the controller, which they need
// for an orderly stop.
func (c *Cluster) Stop(ctx context.Context) error {
	var group errgroup.Group
	var last *node
	for _, n := range c.nodes {
		if n.process == nil {
			continue
		}
		if n.isController() {
			last = n
			continue
		}
		group.Go(func() error { return n.process.stop(ctx) })
	}
	err := group.Wait()
	if last != nil {
		err = errors.Join(err, last.process.stop(ctx))
	}
	return errors.Join(err, c.cleanUp())
}

// Kill ends all nodes without warning and cleans up.
func (c *Cluster) Kill() {
	for _, n := range c.nodes {
		if n.process != nil {
			n.process.kill()
		}
	}
	_ = c.cleanUp()
}

func (c *Cluster) cleanUp() error {
	for _, n := range c.nodes {
		n.release()
	}
	c.nodes = nil
	if !c.ownDir {
		return nil
	}
	return os.RemoveAll(c.dir)
}
