package cluster

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/brokerconfig"
)

// admins holds one client for each cluster, for as long as the cluster is ours.
type admins struct {
	dial Dial

	mu   sync.Mutex
	open map[key]*admin
}

// admin is the client of a cluster and what it was told.
type admin struct {
	Admin
	brokers, controllers []string
	addresses            *addresses
}

// addresses are the IPs of pods by host, as the last look saw them: DNS hears of
// a pod later, and may remember its old one.
type addresses struct {
	mu sync.RWMutex
	ip map[string]string
}

func (a *addresses) resolve(host string) (string, bool) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	ip, ok := a.ip[host]
	return ip, ok
}

func (a *addresses) set(ip map[string]string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ip = ip
}

func newAdmins(dial Dial) *admins { return &admins{dial: dial, open: map[key]*admin{}} }

// of returns the client of a cluster whose nodes have these pods; nil where no
// broker runs, so that there is nobody to talk to.
func (a *admins) of(s *state) (Admin, error) {
	k := key{Namespace: s.kafka.Namespace, Name: s.kafka.Name}
	var brokers, controllers []string
	ips := map[string]string{}
	for name, pod := range s.pods {
		if pod.Status.PodIP == "" {
			continue
		}
		host := brokerconfig.PodHost(k.Name, k.Namespace, name)
		ips[host] = pod.Status.PodIP
		if pod.Labels[kafkav1.LabelBrokerRole] == "true" {
			brokers = append(brokers, net.JoinHostPort(host, strconv.Itoa(brokerconfig.ReplicationPort)))
		}
		if pod.Labels[kafkav1.LabelControllerRole] == "true" {
			controllers = append(controllers, net.JoinHostPort(host, strconv.Itoa(brokerconfig.ControlPlanePort)))
		}
	}
	slices.Sort(brokers)
	slices.Sort(controllers)
	a.mu.Lock()
	defer a.mu.Unlock()
	open := a.open[k]
	if len(brokers) == 0 {
		if open != nil {
			open.addresses.set(ips)
		}
		return nil, nil
	}
	if open == nil {
		open = &admin{addresses: &addresses{}}
		client, err := a.dial(Endpoints{Namespace: k.Namespace, Name: k.Name, Brokers: brokers, Controllers: controllers, Resolve: open.addresses.resolve})
		if err != nil {
			return nil, fmt.Errorf("making the client of Kafka %s: %w", k, err)
		}
		open.Admin, open.brokers, open.controllers = client, brokers, controllers
		a.open[k] = open
	}
	open.addresses.set(ips)
	if !slices.Equal(open.brokers, brokers) || !slices.Equal(open.controllers, controllers) {
		if err := open.SetServers(brokers, controllers); err != nil {
			return nil, fmt.Errorf("telling the client of Kafka %s where the nodes are: %w", k, err)
		}
		open.brokers, open.controllers = brokers, controllers
	}
	return open.Admin, nil
}

// close ends the client of a cluster that is not ours any more.
func (a *admins) close(k key) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if open := a.open[k]; open != nil {
		open.Close()
		delete(a.open, k)
	}
}

// closeAll ends all clients.
func (a *admins) closeAll() {
	a.mu.Lock()
	keys := make([]key, 0, len(a.open))
	for k := range a.open {
		keys = append(keys, k)
	}
	a.mu.Unlock()
	for _, k := range keys {
		a.close(k)
	}
}
