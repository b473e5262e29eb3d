package brokerconfig

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/configdef"
	"github.com/sluice-kafka/sluice/internal/nodepool"
)

// Input is what the file of a node follows from.
type Input struct {
	// Kafka and Pool that the node belongs to.
	Kafka *apiv1.Kafka
	Pool  *apiv1.KafkaNodePool
	// Node with the roles that it is to have, which are its pool's except where a
	// change of roles is held back.
	Node nodepool.Node
	// Controllers of the cluster, in any order: the static quorum.
	Controllers []nodepool.Node
	// Version of Kafka that the node runs, such as 4.3.1.
	Version string
	// Cordoned tells that the node takes no new replicas. It is only written where
	// the version can do that and the node is a broker.
	Cordoned bool
}

// File is the configuration of one node.
type File struct {
	// Node that it is for, with its roles.
	Node nodepool.Node
	// Version of Kafka that reads it.
	Version string
	// Cordoned tells that the node is to take no new replicas, whether or not the
	// version can do that.
	Cordoned bool
	// Options by name, with their values as Kafka takes them.
	Options map[string]string
	// Refused are the keys of spec.kafka.config that are not in Options, sorted.
	Refused []Refused
}

// Refused is an option of the user's that is not rendered.
type Refused struct {
	// Key in spec.kafka.config, as it is written there.
	Key string
	// Reason for people: whose the option is, or what is wrong with its value.
	Reason string
}

// Render returns the file of a node. It sets nothing that the user is silent
// about, but for what makes the node a part of its cluster: Kafka's defaults
// hold.
func Render(in Input) File {
	f := File{Node: in.Node, Version: in.Version, Cordoned: in.Cordoned && in.Node.Broker, Options: map[string]string{}}
	f.addUsers(in.Kafka.Spec.Kafka)
	maps.Copy(f.Options, identity(in))
	maps.Copy(f.Options, listeners(in))
	maps.Copy(f.Options, logDirs(in))
	if f.Cordoned && canCordon(in.Version) {
		f.Options[CordonedLogDirs] = cordonAll
	}
	return f
}

// addUsers adds what stands in spec.kafka.config. Of keys that differ by blanks
// around them alone the one without wins, else the first.
func (f *File) addUsers(spec apiv1.KafkaClusterSpec) {
	owned := OwnedWith(spec.Listeners)
	for _, key := range slices.Sorted(maps.Keys(spec.Config)) {
		name := OptionName(key)
		value, err := configdef.RenderValue(spec.Config[key].Raw)
		prefix := owned.Prefix(key)
		switch {
		case prefix == CordonedLogDirs:
			f.refuse(key, "the operator sets it on brokers that are to go, and takes it off again: remove it")
		case prefix != "":
			f.refuse(key, fmt.Sprintf("the operator sets the options that start with %q itself: remove it", prefix))
		case name == "":
			f.refuse(key, "an option needs a name: remove it")
		case err != nil:
			f.refuse(key, err.Error())
		default:
			if _, other := f.Options[name]; !other || key == name {
				f.Options[name] = value
			}
		}
	}
}

func (f *File) refuse(key, reason string) {
	f.Refused = append(f.Refused, Refused{Key: key, Reason: reason})
}

// identity tells Kafka who the node is, and who else decides. The rack is not
// here: where a pod runs is only known once it is bound.
func identity(in Input) map[string]string {
	var roles []string
	if in.Node.Broker {
		roles = append(roles, "broker")
	}
	if in.Node.Controller {
		roles = append(roles, "controller")
	}
	controllers := slices.SortedFunc(slices.Values(in.Controllers), func(a, b nodepool.Node) int { return cmp.Compare(a.ID, b.ID) })
	voters := make([]string, len(controllers))
	for i, c := range controllers {
		voters[i] = fmt.Sprintf("%d@%s:%d", c.ID, in.host(c), ControlPlanePort)
	}
	return map[string]string{
		"node.id":                  strconv.Itoa(int(in.Node.ID)),
		"process.roles":            strings.Join(roles, ","),
		"controller.quorum.voters": strings.Join(voters, ","),
	}
}

func (in Input) host(n nodepool.Node) string {
	return PodHost(in.Kafka.Name, in.Kafka.Namespace, n.Pod)
}

// listeners are the node's own. The map of protocols has those that nodes connect
// to each other by, too; the user's are no reason to restart a controller.
func listeners(in Input) map[string]string {
	type listener struct {
		name string
		port int64
	}
	var own []listener
	protocols := []string{controlPlaneListener + ":PLAINTEXT", replicationListener + ":PLAINTEXT"}
	if in.Node.Controller {
		own = append(own, listener{controlPlaneListener, ControlPlanePort})
	}
	if in.Node.Broker {
		own = append(own, listener{replicationListener, ReplicationPort})
	}
	if in.Node.Broker {
		for _, l := range Listeners(in.Kafka) {
			own = append(own, listener{listenerName(l), l.Port})
			protocols = append(protocols, listenerName(l)+":PLAINTEXT")
		}
	}
	var bound, advertised []string
	for _, l := range own {
		bound = append(bound, fmt.Sprintf("%s://0.0.0.0:%d", l.name, l.port))
		advertised = append(advertised, fmt.Sprintf("%s://%s:%d", l.name, in.host(in.Node), l.port))
	}
	options := map[string]string{
		"listeners":                      strings.Join(bound, ","),
		"advertised.listeners":           strings.Join(advertised, ","),
		"listener.security.protocol.map": strings.Join(protocols, ","),
		"controller.listener.names":      controlPlaneListener,
	}
	if in.Node.Broker {
		options["inter.broker.listener.name"] = replicationListener
	}
	return options
}

func logDirs(in Input) map[string]string {
	options := map[string]string{}
	var dirs []string
	for _, v := range Volumes(in.Pool, in.Node) {
		dirs = append(dirs, v.LogDir)
		if v.Metadata {
			options["metadata.log.dir"] = v.LogDir
		}
	}
	if len(dirs) > 0 {
		options["log.dirs"] = strings.Join(dirs, ",")
	}
	return options
}
