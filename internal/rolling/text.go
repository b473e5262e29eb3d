package rolling

import (
	"fmt"
	"strconv"
	"strings"
)

// told is how many different reasons a condition gives.
const told = 3

// Message says for a condition why none is restarted; empty where one is, or none
// needs it.
func (d Decision) Message() string {
	if d.Restart != nil || len(d.Waits) == 0 {
		return ""
	}
	var texts []string
	left := 0
	for _, w := range d.Waits {
		switch {
		case w.Cause == CauseTurn:
		case len(texts) < told:
			texts = append(texts, w.Message)
		default:
			left++
		}
	}
	message := counted(len(d.Need), "node") + " to be restarted, and none may be now: " + strings.Join(texts, "; ")
	if left > 0 {
		message += "; and " + counted(left, "more node")
	}
	return message + "."
}

const byHand = "to restart it all the same, delete its pod "

func turnWait(n Node, after int32) Wait {
	return Wait{n.ID, CauseTurn, fmt.Sprintf("node %d comes after node %d", n.ID, after)}
}

func (c *cluster) nodeWait(n, other Node) *Wait {
	return &Wait{n.ID, CauseNode, fmt.Sprintf("node %d waits for node %d: %s", n.ID, other.ID, c.incomplete(other))}
}

// incomplete says what a node lacks, and what to do about it.
func (c *cluster) incomplete(n Node) string {
	switch n.State {
	case Missing:
		return "it has no pod"
	case Terminating:
		return "its pod " + n.Pod + " is terminating"
	case Unschedulable:
		return "no Kubernetes node takes its pod " + n.Pod + "; see the pod's events"
	case Unready:
		return "its pod " + n.Pod + " is not ready; if it stays so, see the pod's events and log"
	}
	if c.fenced(n) {
		return "its pod " + n.Pod + " is ready, but the controllers have its broker fenced or not registered; if it stays so, see the pod's log"
	}
	if behind := c.standings[n.ID].behind; behind.count > 0 {
		return "it is not in sync for " + behind.text() + "; if it stays so, see the log of pod " + n.Pod
	}
	return "as a controller it lags behind the active one; if it stays so, see the log of pod " + n.Pod
}

func partitionsWait(n Node, needed sample) *Wait {
	return &Wait{n.ID, CausePartitions, fmt.Sprintf("without node %d %s would have too few replicas in sync for min.insync.replicas; "+
		"bring their other replicas back in sync, or, %s%s", n.ID, needed.text(), byHand, n.Pod)}
}

func quorumWait(n Node, have, need int) *Wait {
	return &Wait{n.ID, CauseQuorum, fmt.Sprintf("without node %d only %s would be caught up where %d have to be; "+
		"bring the others back, or, %s%s", n.ID, counted(have, "controller"), need, byHand, n.Pod)}
}

func unseenWait(n Node, what string, err error) *Wait {
	return &Wait{n.ID, CauseUnobserved, fmt.Sprintf("node %d serves, and %s could not be seen (%v); %s%s", n.ID, what, err, byHand, n.Pod)}
}

func (c *cluster) minimumWait(n Node, unknown sample) *Wait {
	reason := "their topics are new"
	if err := c.in.MinInSync.Err(); err != nil {
		reason = err.Error()
	}
	return &Wait{n.ID, CauseUnobserved, fmt.Sprintf("node %d is in sync for %s whose min.insync.replicas could not be seen (%s)", n.ID, unknown.text(), reason)}
}

func (c *cluster) unclearWait(n Node) *Wait {
	what, err := "whether it is registered", c.in.Registration.Err()
	if c.asBroker(n) != unclear {
		what, err = "the quorum of the controllers", c.in.Quorum.Err()
	}
	return &Wait{n.ID, CauseUnobserved, fmt.Sprintf("the pod of node %d is not ready, but it may serve all the same, for %s could not be seen (%v); "+
		"%s%s", n.ID, what, err, byHand, n.Pod)}
}

// reason says why a node is restarted, and what suffers from it.
func (c *cluster) reason(n Node) string {
	reason := fmt.Sprintf("pod %s has revision %q, and %q is wanted", n.Pod, n.Live, n.Wanted)
	if c.isDown(n) {
		return reason + "; the node is down in any case"
	}
	if s := c.standings[n.ID].unhelped; c.asBroker(n) == up && s.count > 0 {
		reason += fmt.Sprintf("; meanwhile %s cannot be kept at min.insync.replicas, for there are no more replicas than that", s.text())
	}
	if c.asController(n) == up && c.controllers == 1 {
		reason += "; it is the only controller, so no metadata can change until it is back"
	}
	return reason
}

// counted is a number with its noun.
func counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}
