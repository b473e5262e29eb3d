package options

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/topicplan"
)

// Complete reads the files that options name and judges all of them; it reports
// everything that is wrong at once.
func (o *Operator) Complete() error {
	var failures []error
	if path := o.Topics.ExternalClustersFile; path != "" {
		clusters, err := loadExternalClusters(path)
		if err != nil {
			failures = append(failures, refuse("external-clusters", path, err.Error()))
		}
		o.Topics.ExternalClusters = clusters
	}
	for _, check := range []func() error{
		o.checkControllers, o.checkKubernetes, o.checkWebhooks, o.checkCertificates, o.checkTopics, o.checkClusters, o.checkServing, o.checkLog,
	} {
		failures = append(failures, check())
	}
	return errors.Join(failures...)
}

// refusal is an option that is wrong.
type refusal struct {
	flag  string
	value any
	// right is what it should be.
	right string
}

// Error implements error.
func (r *refusal) Error() string {
	return fmt.Sprintf("--%s=%v (or %s): %s", r.flag, r.value, envName(r.flag), r.right)
}

// refuse words every refusal alike.
func refuse(flag string, value any, right string) error {
	return &refusal{flag: flag, value: value, right: right}
}

func (o *Operator) checkControllers() error {
	for i, c := range o.Controllers {
		if !slices.Contains(knownControllers, c) {
			return refuse("controllers", strings.Join(o.Controllers, ","),
				fmt.Sprintf("%q is not a controller; known are: %s", c, strings.Join(knownControllers, ", ")))
		}
		if slices.Contains(o.Controllers[:i], c) {
			return refuse("controllers", strings.Join(o.Controllers, ","), fmt.Sprintf("%q is named twice; name it once", c))
		}
	}
	return nil
}

func (o *Operator) checkKubernetes() error {
	var failures []error
	if problems := validation.IsDNS1123Label(o.Namespace); len(problems) > 0 {
		failures = append(failures, refuse("namespace", o.Namespace, strings.Join(problems, "; ")))
	}
	if o.KubeAPIQPS < 0 {
		failures = append(failures, refuse("kube-api-qps", o.KubeAPIQPS, "must be 0 (no bound) or more"))
	}
	if o.KubeAPIQPS > 0 && o.KubeAPIBurst < 1 {
		failures = append(failures, refuse("kube-api-burst", o.KubeAPIBurst, "must be 1 or more"))
	}
	return errors.Join(failures...)
}

func (o *Operator) checkWebhooks() error {
	w := &o.Webhooks
	if !w.Enabled {
		return nil
	}
	var failures []error
	if w.Port < 1 || w.Port > 65535 {
		failures = append(failures, refuse("webhook-port", w.Port, "must be a port, 1 to 65535"))
	}
	for _, c := range []struct{ flag, name string }{
		{"validating-webhook-configuration", w.ValidatingConfiguration},
		{"mutating-webhook-configuration", w.MutatingConfiguration},
	} {
		if problems := validation.IsDNS1123Subdomain(c.name); c.name != "" && len(problems) > 0 {
			failures = append(failures, refuse(c.flag, c.name, strings.Join(problems, "; ")))
		}
	}
	return errors.Join(failures...)
}

func (o *Operator) checkCertificates() error {
	c := &o.Certificates
	var failures []error
	if c.Mode != CertModeSelfSigned && c.Mode != CertModeCertManager {
		failures = append(failures, refuse("cert-mode", c.Mode, "must be "+CertModeSelfSigned+" or "+CertModeCertManager))
	}
	if problems := validation.IsDNS1123Subdomain(c.Secret); len(problems) > 0 {
		failures = append(failures, refuse("cert-secret", c.Secret, strings.Join(problems, "; ")))
	}
	if problems := validation.IsDNS1035Label(c.Service); len(problems) > 0 {
		failures = append(failures, refuse("webhook-service", c.Service, strings.Join(problems, "; ")))
	}
	for _, h := range c.ExtraHosts {
		if net.ParseIP(h) == nil && len(validation.IsDNS1123Subdomain(h)) > 0 {
			failures = append(failures, refuse("webhook-cert-hosts", strings.Join(c.ExtraHosts, ","),
				fmt.Sprintf("%q is neither a DNS name nor an IP address; give hosts without a port", h)))
		}
	}
	if c.PropagationDelay < 0 {
		failures = append(failures, refuse("cert-propagation-delay", c.PropagationDelay, "must not be negative"))
	}
	if c.RetireAfter < c.PropagationDelay {
		failures = append(failures, refuse("cert-retire-after", c.RetireAfter,
			fmt.Sprintf("must not be less than --cert-propagation-delay=%v, or a replica that is still waiting would be refused", c.PropagationDelay)))
	}
	if least := 6 * (c.RetireAfter + c.PropagationDelay); c.Mode == CertModeSelfSigned && c.Validity < least {
		failures = append(failures, refuse("cert-validity", c.Validity,
			fmt.Sprintf("must be at least %v, six times --cert-propagation-delay and --cert-retire-after together, so that one rotation ends before the next begins", least)))
	}
	return errors.Join(failures...)
}

func (o *Operator) checkTopics() error {
	t := &o.Topics
	var failures []error
	// Larger batches gain nothing: each is held in memory whole, and Kafka's
	// controller takes at most 10,000 records of one request (QuorumController,
	// MAX_RECORDS_PER_USER_OP).
	if t.MaxBatchSize < 1 || t.MaxBatchSize > 10000 {
		failures = append(failures, refuse("max-batch-size", t.MaxBatchSize, "must be 1 to 10000"))
	}
	if t.OnUnreachable != apiv1.OnUnreachableWait && t.OnUnreachable != apiv1.OnUnreachableOrphan {
		failures = append(failures, refuse("on-unreachable", t.OnUnreachable, "must be "+apiv1.OnUnreachableWait+" or "+apiv1.OnUnreachableOrphan))
	}
	if _, err := labels.Parse(t.Selector); err != nil {
		failures = append(failures, refuse("topic-selector", t.Selector, "must be a label selector, such as team=payments,stage!=test: "+err.Error()))
	}
	if _, err := topicplan.ParseAlterable(t.AlterableConfig); err != nil {
		failures = append(failures, refuse("alterable-topic-config", t.AlterableConfig, err.Error()))
	}
	if t.Workers < 1 || t.Workers > 100 {
		failures = append(failures, refuse("topic-workers", t.Workers, "must be 1 to 100"))
	}
	for _, d := range []struct {
		flag        string
		value       time.Duration
		least, most time.Duration
	}{
		{"max-batch-linger", t.MaxBatchLinger, 0, time.Minute},
		{"resync-interval", t.ResyncInterval, time.Second, 24 * time.Hour},
		{"unreachable-after", t.UnreachableAfter, time.Second, 24 * time.Hour},
		{"orphan-after", t.OrphanAfter, time.Second, 30 * 24 * time.Hour},
	} {
		if d.value < d.least || d.value > d.most {
			failures = append(failures, refuse(d.flag, d.value, fmt.Sprintf("must be %v to %v", d.least, d.most)))
		}
	}
	return errors.Join(failures...)
}

func (o *Operator) checkClusters() error {
	c := &o.Clusters
	var failures []error
	if c.Workers < 1 || c.Workers > 100 {
		failures = append(failures, refuse("cluster-workers", c.Workers, "must be 1 to 100"))
	}
	for _, d := range []struct {
		flag        string
		value       time.Duration
		least, most time.Duration
	}{
		{"cluster-look-interval", c.LookInterval, 5 * time.Second, time.Hour},
		// A broker tells of its cordon in a heartbeat, every 2 s
		// (broker.heartbeat.interval.ms).
		{"empty-for", c.EmptyFor, 5 * time.Second, 24 * time.Hour},
		{"empty-for-uncordoned", c.EmptyForUncordoned, 10 * time.Second, 24 * time.Hour},
	} {
		if d.value < d.least || d.value > d.most {
			failures = append(failures, refuse(d.flag, d.value, fmt.Sprintf("must be %v to %v", d.least, d.most)))
		}
	}
	return errors.Join(failures...)
}

func (o *Operator) checkServing() error {
	s := &o.Serving
	return errors.Join(
		checkAddress("metrics-bind-address", s.MetricsBindAddress),
		checkAddress("health-probe-bind-address", s.HealthProbeBindAddress),
	)
}

func checkAddress(flag, value string) error {
	if value == Disabled {
		return nil
	}
	_, port, err := net.SplitHostPort(value)
	if err != nil {
		return refuse(flag, value, "must be host:port or :port, or "+Disabled+" to switch it off")
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return refuse(flag, value, fmt.Sprintf("port %q must be a number, 1 to 65535", port))
	}
	return nil
}

func (o *Operator) checkLog() error {
	var failures []error
	if _, err := ParseLevel(o.Log.Level); err != nil {
		failures = append(failures, refuse("log-level", o.Log.Level, err.Error()))
	}
	if f := o.Log.Format; f != LogFormatJSON && f != LogFormatConsole {
		failures = append(failures, refuse("log-format", f, "must be "+LogFormatJSON+" or "+LogFormatConsole))
	}
	return errors.Join(failures...)
}

// ParseLevel turns a log level into logr's verbosity: 0 is info, more is more
// detail, and -1 leaves errors alone.
func ParseLevel(level string) (int, error) {
	switch level {
	case "error":
		return -1, nil
	case "info":
		return 0, nil
	case "debug":
		return 1, nil
	}
	n, err := strconv.ParseUint(level, 10, 7)
	if err != nil {
		return 0, errors.New("must be debug, info, error, or a number from 0 to 127")
	}
	return int(n), nil
}
