package validation

import (
	"fmt"
	"path"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sluice-kafka/sluice/internal/templating"
)

// mountRoot is where the mounts of templates may stand.
const mountRoot = "/mnt"

// eachMount calls do for every mount of every container.
func (p pods) eachMount(do func(at *field.Path, element string, m corev1.VolumeMount)) {
	for _, c := range p.containers {
		for i, m := range c.mounts {
			do(c.path.Index(i), c.name+"/"+m.Name, m)
		}
	}
}

func podsMountPlaceholder(p pods) []Finding {
	templated := map[string]bool{}
	for _, v := range p.list {
		templated[v.Name] = true
	}
	var found []Finding
	p.eachMount(func(at *field.Path, element string, m corev1.VolumeMount) {
		for _, t := range []struct{ name, text string }{
			{"name", m.Name}, {"mountPath", m.MountPath}, {"subPath", m.SubPath}, {"subPathExpr", m.SubPathExpr},
		} {
			why := literalPlaceholder(t.text)
			if why == "" {
				continue
			}
			f := Finding{Path: at.Child(t.name), Element: element, Value: t.text,
				Message: why + ": a mount is the same on every node; let the volume's Secret, ConfigMap or claim differ"}
			if templated[m.Name] && templating.HasPlaceholder(t.text) {
				f.Severity = Refuse
			}
			found = append(found, f)
		}
	})
	return found
}

func podsMountPath(p pods) []Finding {
	var found []Finding
	p.eachMount(func(at *field.Path, element string, m corev1.VolumeMount) {
		clean := path.Clean(m.MountPath)
		if clean == mountRoot || strings.HasPrefix(clean, mountRoot+"/") {
			return
		}
		why := "a volume may be mounted only at " + mountRoot + " or below it, where it cannot hide files of the image: choose a path like " +
			mountRoot + "/" + orElse(m.Name, "volume")
		if m.MountPath != "" && clean != m.MountPath {
			why = fmt.Sprintf("it is %s, and %s", shown(clean), why)
		}
		found = append(found, Finding{Severity: Refuse, Path: at.Child("mountPath"), Element: element, Value: m.MountPath, Message: why})
	})
	return found
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

func podsMountPathDuplicate(p pods) []Finding {
	var found []Finding
	for _, c := range p.containers {
		first := make(map[string]int, len(c.mounts))
		for i, m := range c.mounts {
			clean := path.Clean(m.MountPath)
			j, dup := first[clean]
			switch {
			case m.MountPath == "":
			case !dup:
				first[clean] = i
			default:
				found = append(found, Finding{
					// Which of the two comes second is no part of the fault.
					Severity: Refuse, Path: c.path.Index(i).Child("mountPath"), Element: c.name, Value: clean,
					Message: fmt.Sprintf("volumeMounts[%d] of this container is mounted there already: choose another path", j),
				})
			}
		}
	}
	return found
}

// podsDanglingMount judges on sight where no other object can add the volume.
// Elsewhere it takes both objects; see the joining rules.
func podsDanglingMount(p pods) []Finding {
	if !p.final || p.listErr != nil {
		return nil
	}
	names := p.names()
	there := known(names)
	var found []Finding
	p.eachMount(func(at *field.Path, element string, m corev1.VolumeMount) {
		if m.Name != "" && (names[m.Name] || p.mayHave(m.Name)) {
			return
		}
		found = append(found, Finding{
			Severity: Refuse, Path: at.Child("name"), Element: element, Value: m.Name,
			Message: fmt.Sprintf("no volume is named %s, so Kubernetes would refuse the pods: add it to %s, or correct the name%s",
				shown(m.Name), p.base.Child("pod", "templatedVolumes"), there),
		})
	})
	return found
}

// podsRemoved lets a Kafka's templated volume go only together with the mounts
// in the same object: unlike a mount that is new, one that is left over cannot
// be waiting for anything to arrive.
func podsRemoved(p pods) []Finding {
	if p.before == nil || p.before.listErr != nil || p.listErr != nil {
		return nil
	}
	gone, names := map[string]bool{}, p.names()
	for _, v := range p.before.list {
		gone[v.Name] = !names[v.Name] && !p.mayHave(v.Name)
	}
	var found []Finding
	p.eachMount(func(at *field.Path, element string, m corev1.VolumeMount) {
		if gone[m.Name] {
			found = append(found, Finding{
				Severity: Refuse, Path: at.Child("name"), Element: element, Value: m.Name,
				Message: fmt.Sprintf("this update removes the templated volume %s, which is still mounted here: remove the mount too", shown(m.Name)),
			})
		}
	})
	return found
}
