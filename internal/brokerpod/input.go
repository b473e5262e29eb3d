package brokerpod

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/nodepool"
)

// ErrInvalid says that resources ask for what cannot be made. The text names
// each kind, object and field's path at fault, and the mend.
var ErrInvalid = errors.New("invalid resource")

// Input is what the objects of one node are made from.
type Input struct {
	// Kafka that the node belongs to. Its UID is that of the owner of what is made.
	Kafka *apiv1.Kafka
	// Pool that the node belongs to.
	Pool *apiv1.KafkaNodePool
	// Node with the roles that it is to have.
	Node nodepool.Node
	// Version of Kafka to run, such as 4.3.1.
	Version string
	// ClusterID that new log directories are formatted with, Kafka's own.
	ClusterID string
	// ConfigurationHash covers what of the node's configuration takes a restart to
	// come into effect, and nothing else.
	ConfigurationHash string
}

// faults collects what is wrong with a node's resources, so that all of it is
// told at once.
type faults struct {
	all []Fault
}

// Fault is one thing that is wrong with a resource.
type Fault struct {
	// Kind and Name of the resource.
	Kind, Name string
	// Path is where in it the fault stands.
	Path *field.Path
	// Message says what is wrong and what to do about it.
	Message string
}

// String names the resource too.
func (f Fault) String() string {
	return fmt.Sprintf("%s %s: %s: %s", f.Kind, f.Name, f.Path, f.Message)
}

// in returns where a part of an object stands, for faults in it to be reported.
func (f *faults) in(kind, name string, path *field.Path) place {
	return place{faults: f, kind: kind, name: name, path: path}
}

func (f *faults) err() error {
	if len(f.all) == 0 {
		return nil
	}
	texts := make([]string, len(f.all))
	for i, one := range f.all {
		texts[i] = one.String()
	}
	return fmt.Errorf("%w: %s", ErrInvalid, strings.Join(texts, "; "))
}

// place is where in which object something stands.
type place struct {
	faults     *faults
	kind, name string
	path       *field.Path
}

func (p place) child(name string) place {
	p.path = p.path.Child(name)
	return p
}

func (p place) index(i int) place {
	p.path = p.path.Index(i)
	return p
}

func (p place) key(name string) place {
	p.path = p.path.Key(name)
	return p
}

// fault reports what is wrong and what to do about it.
func (p place) fault(format string, args ...any) {
	p.faults.all = append(p.faults.all, Fault{Kind: p.kind, Name: p.name, Path: p.path, Message: fmt.Sprintf(format, args...)})
}

// of returns the place of a part of the Kafka's nodes: in the pool or, where it
// is not the pool's own, in the Kafka.
func (f *faults) of(in Input, ofPool bool, path ...string) place {
	if ofPool {
		return f.in(apiv1.KindKafkaNodePool, in.Pool.Name, field.NewPath("spec", path...))
	}
	return f.in(apiv1.KindKafka, in.Kafka.Name, field.NewPath("spec", append([]string{"kafka"}, path...)...))
}
