package certs

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// renewal tells why the self-signed pair has to be replaced.
type renewal struct {
	// reason is empty where the pair is good.
	reason string
	// keepHosts tells that the hosts of the present pair have to be in the new
	// one too: two replicas that want different hosts, as in the middle of an
	// upgrade, then agree on the union instead of undoing each other's work.
	keepHosts bool
}

func (r renewal) due() bool { return r.reason != "" }

// candidate is what the policies look at.
type candidate struct {
	secret *corev1.Secret
	pair   *pair
	hosts  []string
	now    time.Time
}

// policies are asked in order; the first reason counts. A later one may rely on
// what an earlier one has seen.
var policies = []func(*candidate) renewal{
	secretMissing,
	pairUnreadable,
	pairNotVouchedFor,
	pairNearExpiry,
	hostsNotCovered,
}

// judge tells whether the pair in the Secret, nil where there is none, has to
// be replaced, and returns it where it could be read.
func judge(secret *corev1.Secret, hosts []string, now time.Time) (renewal, *pair) {
	c := &candidate{secret: secret, hosts: hosts, now: now}
	for _, policy := range policies {
		if r := policy(c); r.due() {
			return r, c.pair
		}
	}
	return renewal{}, c.pair
}

func secretMissing(c *candidate) renewal {
	if c.secret == nil {
		return renewal{reason: "there is no Secret"}
	}
	return renewal{}
}

func pairUnreadable(c *candidate) renewal {
	p, err := parsePair(c.secret.Data)
	if err != nil {
		return renewal{reason: "the Secret cannot be used: " + err.Error()}
	}
	c.pair = p
	return renewal{}
}

func pairNotVouchedFor(c *candidate) renewal {
	err := c.pair.vouchedFor(c.now)
	if err != nil {
		return renewal{reason: fmt.Sprintf("the serving certificate does not stand under %s: %v", keyCA, err)}
	}
	return renewal{}
}

func pairNearExpiry(c *candidate) renewal {
	due := renewalTime(c.pair)
	if c.now.Before(due) {
		return renewal{}
	}
	return renewal{reason: fmt.Sprintf("the serving certificate is valid until %s and due for renewal since %s",
		c.pair.leaf().NotAfter.UTC().Format(time.RFC3339), due.UTC().Format(time.RFC3339))}
}

func hostsNotCovered(c *candidate) renewal {
	var missing []string
	for _, h := range c.hosts {
		if c.pair.leaf().VerifyHostname(h) != nil {
			missing = append(missing, h)
		}
	}
	if len(missing) == 0 {
		return renewal{}
	}
	return renewal{reason: "the serving certificate is not for " + strings.Join(missing, ", "), keepHosts: true}
}

// renewalTime is when two thirds of the pair's life are over, counted from when
// it was issued.
func renewalTime(p *pair) time.Time {
	life := p.leaf().NotAfter.Sub(p.leaf().NotBefore.Add(backdating))
	return p.leaf().NotAfter.Add(-life / 3)
}

// hostsFor are the hosts of the pair that replaces old, sorted and each once.
func hostsFor(r renewal, old *pair, wanted []string) []string {
	hosts := slices.Clone(wanted)
	if r.keepHosts && old != nil {
		hosts = append(hosts, old.hosts()...)
	}
	slices.Sort(hosts)
	return slices.Compact(hosts)
}
