//go:build linux

package agent

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/sluice-kafka/sluice/test/nodeagent/sandbox"
)

// probe runs the container's probes until it is no longer alive. What is to end
// the container is sent to fail.
func (c *container) probe(alive context.Context, p *sandbox.Process, fail chan<- string) {
	if s := c.spec.StartupProbe; s != nil {
		if !c.probeUntil(alive, p, s, func(ok bool) bool {
			if !ok {
				report(fail, "startup probe failed")
			}
			return ok
		}) {
			return
		}
	}
	c.set(func() { c.started, c.ready = true, c.spec.ReadinessProbe == nil })
	var both sync.WaitGroup
	if r := c.spec.ReadinessProbe; r != nil {
		both.Go(func() {
			c.probeUntil(alive, p, r, func(ok bool) bool {
				c.set(func() { c.ready = ok })
				return false
			})
		})
	}
	if l := c.spec.LivenessProbe; l != nil {
		both.Go(func() {
			c.probeUntil(alive, p, l, func(ok bool) bool {
				if !ok {
					report(fail, "liveness probe failed")
				}
				return false
			})
		})
	}
	both.Wait()
}

func report(fail chan<- string, why string) {
	select {
	case fail <- why:
	default:
	}
}

// set changes what is known of the container and says so where that is news.
func (c *container) set(change func()) {
	c.mu.Lock()
	started, ready := c.started, c.ready
	change()
	news := started != c.started || ready != c.ready
	c.mu.Unlock()
	if news {
		c.w.publish()
	}
}

// probeUntil probes in the probe's period and calls decided each time that a
// threshold is met; it returns true when that does, false when alive is over.
func (c *container) probeUntil(alive context.Context, p *sandbox.Process, probe *corev1.Probe, decided func(ok bool) (enough bool)) bool {
	// The API server has filled in the defaults.
	timer := time.NewTimer(time.Duration(probe.InitialDelaySeconds) * time.Second)
	defer timer.Stop()
	ticker := time.NewTicker(time.Duration(max(probe.PeriodSeconds, 1)) * time.Second)
	defer ticker.Stop()
	select {
	case <-alive.Done():
		return false
	case <-timer.C:
	}
	var successes, failures int32
	for {
		ctx, cancel := context.WithTimeout(alive, time.Duration(max(probe.TimeoutSeconds, 1))*time.Second)
		err := c.once(ctx, p, probe.ProbeHandler)
		cancel()
		if alive.Err() != nil {
			return false
		}
		if err == nil {
			successes, failures = successes+1, 0
		} else {
			successes, failures = 0, failures+1
			c.w.Log.Debug("Probe failed", "pod", c.w.key, "container", c.spec.Name, "reason", err.Error())
		}
		if successes >= max(probe.SuccessThreshold, 1) && decided(true) {
			return true
		}
		if failures >= max(probe.FailureThreshold, 1) && decided(false) {
			return true
		}
		select {
		case <-alive.Done():
			return false
		case <-ticker.C:
		}
	}
}

func (c *container) once(ctx context.Context, p *sandbox.Process, h corev1.ProbeHandler) error {
	switch {
	case h.Exec != nil:
		return c.exec(ctx, p, h.Exec.Command)
	case h.TCPSocket != nil:
		address, err := c.endpoint(h.TCPSocket.Host, h.TCPSocket.Port)
		if err != nil {
			return err
		}
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err != nil {
			return err
		}
		return conn.Close()
	case h.HTTPGet != nil:
		return c.get(ctx, h.HTTPGet)
	}
	return fmt.Errorf("a probe of this kind is not supported by this node")
}

// probing never verifies certificates nor keeps connections, as a kubelet's.
var probing = &http.Client{Transport: &http.Transport{
	DisableKeepAlives: true,
	TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
}}

func (c *container) get(ctx context.Context, h *corev1.HTTPGetAction) error {
	address, err := c.endpoint(h.Host, h.Port)
	if err != nil {
		return err
	}
	scheme := "http"
	if h.Scheme == corev1.URISchemeHTTPS {
		scheme = "https"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+address+h.Path, nil)
	if err != nil {
		return err
	}
	for _, header := range h.HTTPHeaders {
		req.Header.Add(header.Name, header.Value)
	}
	resp, err := probing.Do(req)
	if err != nil {
		return err
	}
	_ = resp.Body.Close()
	if resp.StatusCode >= http.StatusBadRequest || resp.StatusCode < http.StatusOK {
		return fmt.Errorf("status %s", resp.Status)
	}
	return nil
}

func (c *container) endpoint(host string, port intstr.IntOrString) (string, error) {
	if host == "" {
		host = c.w.address()
	}
	number := port.IntValue()
	if port.Type == intstr.String {
		for _, p := range c.spec.Ports {
			if p.Name == port.StrVal {
				number = int(p.ContainerPort)
			}
		}
	}
	if number == 0 {
		return "", fmt.Errorf("the container has no port %s", port.String())
	}
	return net.JoinHostPort(host, fmt.Sprint(number)), nil
}
