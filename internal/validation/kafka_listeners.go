package validation

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/util/validation/field"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

// Names and ports of listeners as Strimzi's operator accepts them
// (GenericKafkaListener and ListenersValidator).
var (
	listenerName = regexp.MustCompile(`^[a-z0-9]{1,11}$`)
	// operatorPorts are in use in every pod: control plane, replication, metrics,
	// JMX, health.
	operatorPorts = []int64{9090, 9091, 9404, 9999, 8080}
	listenerTypes = []string{apiv1.ListenerInternal, "cluster-ip", "nodeport", "loadbalancer", "ingress", "route", "tlsroute"}
)

const lowestListenerPort = 9092

func listenersPath() *field.Path { return field.NewPath("spec", "kafka", "listeners") }

func kafkaListenerName(in kafkaInput) []Finding {
	var found []Finding
	for i, l := range in.kafka.Spec.Kafka.Listeners {
		if !listenerName.MatchString(l.Name) {
			found = append(found, Finding{
				Severity: Refuse, Path: listenersPath().Index(i).Child("name"), Element: l.Name, Value: l.Name,
				Message: "a listener's name becomes part of names in Kafka and Kubernetes: write 1 to 11 lower-case letters and digits",
			})
		}
	}
	return found
}

func kafkaListenerDuplicate(in kafkaInput) []Finding {
	var found []Finding
	names, ports := map[string]int{}, map[int64]int{}
	for i, l := range in.kafka.Spec.Kafka.Listeners {
		path := listenersPath().Index(i)
		if first, dup := names[l.Name]; dup && l.Name != "" {
			found = append(found, Finding{
				Severity: Refuse, Path: path.Child("name"), Element: l.Name, Value: l.Name,
				Message: fmt.Sprintf("%s has this name too, and Kafka tells its listeners apart by it: rename one of them", listenersPath().Index(first)),
			})
		} else if !dup {
			names[l.Name] = i
		}
		if first, dup := ports[l.Port]; dup && l.Port != 0 {
			found = append(found, Finding{
				Severity: Refuse, Path: path.Child("port"), Value: strconv.FormatInt(l.Port, 10),
				Message: fmt.Sprintf("%s has this port too: give each listener its own", listenersPath().Index(first)),
			})
		} else if !dup {
			ports[l.Port] = i
		}
	}
	return found
}

func kafkaListenerPort(in kafkaInput) []Finding {
	var found []Finding
	for i, l := range in.kafka.Spec.Kafka.Listeners {
		f := Finding{Severity: Refuse, Path: listenersPath().Index(i).Child("port"), Element: l.Name, Value: strconv.FormatInt(l.Port, 10)}
		switch {
		case slices.Contains(operatorPorts, l.Port):
			f.Message = fmt.Sprintf("the operator uses this port in every pod itself: write one of %d or above, not 9404 or 9999", lowestListenerPort)
		case l.Port < lowestListenerPort || l.Port > 65535:
			f.Message = fmt.Sprintf("a listener's port is %d to 65535: write one in that range", lowestListenerPort)
		default:
			continue
		}
		found = append(found, f)
	}
	return found
}

func kafkaListenerType(in kafkaInput) []Finding {
	var found []Finding
	for i, l := range in.kafka.Spec.Kafka.Listeners {
		found = append(found, unknownWord(listenersPath().Index(i).Child("type"), l.Name, l.Type, listenerTypes...)...)
	}
	return found
}

// kafkaListenerTLS: on a cluster that Sluice runs, cert-manager makes the
// brokers' certificates.
func kafkaListenerTLS(in kafkaInput) []Finding {
	if !in.opts.WithoutCertManager || !in.kafka.HandedOver() {
		return nil
	}
	var found []Finding
	for i, l := range in.kafka.Spec.Kafka.Listeners {
		if l.TLS {
			found = append(found, Finding{
				Severity: Refuse, Path: listenersPath().Index(i).Child("tls"), Element: l.Name, Value: "true",
				Message: "Sluice takes the certificates of TLS listeners from cert-manager, which is not installed here: install it, or set tls to false",
			})
		}
	}
	return found
}
