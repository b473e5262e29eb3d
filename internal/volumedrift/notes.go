package volumedrift

import (
	"encoding/json"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/podvolumes"
)

// Reasons of notes; they become the reasons of Events.
const (
	// ReasonWait is for pods that wait for a restart that Sluice does not make.
	ReasonWait = "VolumesWaitForRestart"
	// ReasonStopped is for an owner whose last restart did not help.
	ReasonStopped = "VolumesRestartStopped"
	// ReasonOverruled is for a volume that stands in place of a templated one.
	ReasonOverruled = "VolumesDiffer"
	// ReasonUnknown is for pods of which nothing can be told.
	ReasonUnknown = "VolumesUnknown"
)

// maxText is the longest text of a note, in bytes. An Event's note must be
// shorter than 1,024 (ValidateEventCreate in Kubernetes'
// pkg/apis/core/validation/events.go).
const maxText = 1000

// Note is something to be told on an owner.
type Note struct {
	Owner  Owner
	Reason string
	// Subject tells apart the notes of one owner and reason.
	Subject string
	Text    string
}

// notes says everything that people should know, in a fixed order.
func notes(c *Cluster, verdicts []*verdict, b *books) []Note {
	var out []Note
	for _, o := range b.owners {
		var own []*verdict
		for _, v := range verdicts {
			if v.owner() == o || v.applied.Kind == "" && o.Kind == c.mainKind() {
				own = append(own, v)
			}
		}
		out = append(out, waiting(o, own)...)
		out = append(out, stopped(o, b)...)
		out = append(out, overruled(o, own)...)
		out = append(out, untold(o, own)...)
	}
	return out
}

func waiting(o Owner, own []*verdict) []Note {
	var asked, crashed []*verdict
	for _, v := range own {
		switch {
		case v.state != drifted:
		case !v.consent:
			asked = append(asked, v)
		case v.life == unready:
			crashed = append(crashed, v)
		}
	}
	var out []Note
	if len(asked) > 0 {
		out = append(out, note(o, ReasonWait, "", fmt.Sprintf(
			"%s waits for a restart to get the templated volumes: restart it, or annotate this %s with %s: \"true\" for Sluice to do so. %s",
			names(asked), o.Kind, apiv1.AnnotationRollVolumes, describe(asked[0].drift))))
	}
	if len(crashed) > 0 {
		out = append(out, note(o, ReasonWait, "unready", fmt.Sprintf(
			"%s waits for a restart to get the templated volumes, ran before and is not ready: Sluice restarts it once it is ready, or delete it. %s",
			names(crashed), describe(crashed[0].drift))))
	}
	return out
}

func stopped(o Owner, b *books) []Note {
	if err := b.unreadable[o]; err != nil {
		return []Note{note(o, ReasonStopped, "", fmt.Sprintf("No pod is restarted: %v; take it away", err))}
	}
	if len(b.useless[o]) == 0 {
		return nil
	}
	return []Note{note(o, ReasonStopped, "", fmt.Sprintf(
		"%s was restarted and still has not the templated volumes, so no other is: see what keeps them away, then change the list or take the annotation %s off this %s. %s",
		names(b.useless[o]), apiv1.AnnotationVolumeRestarts, o.Kind, describe(b.useless[o][0].drift)))}
}

func overruled(o Owner, own []*verdict) []Note {
	pods := map[string][]*verdict{}
	var order []podvolumes.Difference
	for _, v := range own {
		for _, d := range v.overruled {
			if pods[d.Wanted.Name] == nil {
				order = append(order, d)
			}
			pods[d.Wanted.Name] = append(pods[d.Wanted.Name], v)
		}
	}
	var out []Note
	for _, d := range order {
		out = append(out, note(o, ReasonOverruled, d.Wanted.Name, fmt.Sprintf(
			"The creator's own volume stands in place of the templated one in %s. %s",
			names(pods[d.Wanted.Name]), describe([]podvolumes.Difference{d}))))
	}
	return out
}

func untold(o Owner, own []*verdict) []Note {
	pods := map[string][]*verdict{}
	for _, v := range own {
		if v.fault != "" && v.life != missing && v.life != going {
			pods[v.fault] = append(pods[v.fault], v)
		}
	}
	var out []Note
	for _, fault := range sortedKeys(pods) {
		out = append(out, note(o, ReasonUnknown, fault, fmt.Sprintf(
			"Whether the templated volumes are those of %s cannot be told: %s", names(pods[fault]), fault)))
	}
	return out
}

func note(o Owner, reason, subject, text string) Note {
	return Note{Owner: o, Reason: reason, Subject: subject, Text: cut(text, maxText)}
}

// names lists some pods for people.
func names(verdicts []*verdict) string {
	const most = 5
	texts := make([]string, 0, most)
	for i, v := range verdicts {
		if i == most {
			return fmt.Sprintf("Pod %s (and %d more)", strings.Join(texts, ", "), len(verdicts)-most)
		}
		texts = append(texts, v.Name)
	}
	return "Pod " + strings.Join(texts, ", ")
}

// describe shows both versions of the first volumes that differ.
func describe(differences []podvolumes.Difference) string {
	const most, width = 2, 180
	texts := make([]string, 0, most)
	for i, d := range differences {
		if i == most {
			texts = append(texts, fmt.Sprintf("%d more volumes differ", len(differences)-most))
			break
		}
		own := "is not there"
		if d.Own != nil {
			own = "is " + cut(source(*d.Own), width)
		}
		texts = append(texts, fmt.Sprintf("Volume %q %s, the template says %s", d.Wanted.Name, own, cut(source(d.Wanted), width)))
	}
	return strings.Join(texts, ". ")
}

func source(v corev1.Volume) string {
	raw, err := json.Marshal(v.VolumeSource)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

// cut shortens a text to a number of bytes, at a character's border.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	const sign = "…"
	return strings.ToValidUTF8(text[:most-len(sign)], "") + sign
}
