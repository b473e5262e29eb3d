package validation

import (
	"fmt"
	"strings"

	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

func podsMisplaced(p pods) []Finding {
	var found []Finding
	for _, path := range p.misplaced {
		found = append(found, Finding{
			Severity: Refuse, Path: path, Element: path.String(), Value: "templatedVolumes",
			Message: "these pods have no node ID: templatedVolumes work only in spec.kafka.template.pod of a Kafka and in spec.template.pod " +
				"of a KafkaNodePool, KafkaConnect or KafkaMirrorMaker2; use volumes here",
		})
	}
	return found
}

func podsUnreadable(p pods) []Finding {
	if p.listErr == nil {
		return nil
	}
	return []Finding{{
		Severity: Refuse, Path: p.listPath, Value: p.annotation,
		Message: p.listErr.Error(),
	}}
}

func podsAnnotationUnused(p pods) []Finding {
	if !p.unusedAnnotation {
		return nil
	}
	return []Finding{{
		Path: annotationPath(), Value: "unused",
		Message: fmt.Sprintf("%s is given, so this annotation is ignored: keep only one of them", p.listPath),
	}}
}

// eachName calls do for every volume, plain ones first.
func (p pods) eachName(do func(path *field.Path, name string, templated bool)) {
	base := p.base.Child("pod", "volumes")
	for i, v := range p.volumes() {
		do(base.Index(i).Child("name"), v.Name, false)
	}
	for i, v := range p.list {
		do(p.listPath.Index(i).Child("name"), v.Name, true)
	}
}

// podsVolumeName: Kubernetes wants a DNS label (ValidateVolumes in its
// pkg/apis/core/validation). Strimzi's own pattern needs two characters.
func podsVolumeName(p pods) []Finding {
	var found []Finding
	p.eachName(func(path *field.Path, name string, templated bool) {
		f := Finding{Severity: Refuse, Path: path, Element: name, Value: name}
		switch faults := utilvalidation.IsDNS1123Label(name); {
		case templated && strings.ContainsAny(name, "{}"):
			f.Message = "a volume's name is the same on every node, no placeholder is replaced in it: use a plain name; " +
				"the names of its Secret, ConfigMap or claim may differ"
		case len(faults) > 0:
			f.Message = "Kubernetes would refuse the pods: a volume's name needs lower-case letters, digits and '-', " +
				"begins and ends with a letter or digit, and has at most 63 characters"
		case len(name) == 1 && !p.bySluice:
			f.Severity = Warn
			f.Message = "Strimzi's operator refuses a volume's name of one character: use a longer one"
		default:
			return
		}
		found = append(found, f)
	})
	return found
}

func podsDuplicateName(p pods) []Finding {
	var found []Finding
	seen := map[string]*field.Path{}
	p.eachName(func(path *field.Path, name string, _ bool) {
		first, dup := seen[name]
		switch {
		case name == "":
		case !dup:
			seen[name] = path
		default:
			found = append(found, Finding{
				Severity: Refuse, Path: path, Element: name, Value: name,
				Message: fmt.Sprintf("a pod cannot have two volumes of one name, and %s is called %s too: rename one of them",
					strings.TrimSuffix(first.String(), ".name"), name),
			})
		}
	})
	return found
}

func podsReservedName(p pods) []Finding {
	always := reservedNames[p.kind].always
	var found []Finding
	p.eachName(func(path *field.Path, name string, _ bool) {
		f := Finding{Path: path, Element: name, Value: name}
		switch {
		case always.MatchString(name), p.bySluice && ofSluice.MatchString(name):
			f.Severity = Refuse
			f.Message = fmt.Sprintf("the operator gives these pods a volume named %s itself: choose another name", name)
		case p.sometimes(name):
			f.Message = fmt.Sprintf("with some settings and versions the operator gives these pods a volume named %s itself: choose another name", name)
		default:
			return
		}
		found = append(found, f)
	})
	return found
}

func podsSource(p pods) []Finding {
	var found []Finding
	for i, v := range p.list {
		path := p.listPath.Index(i)
		var sources, others []string
		given := func(list *[]string, name string, there bool) {
			if there {
				*list = append(*list, name)
			}
		}
		given(&sources, "secret", v.Secret != nil)
		given(&sources, "configMap", v.ConfigMap != nil)
		given(&sources, "persistentVolumeClaim", v.PersistentVolumeClaim != nil)
		given(&others, "emptyDir", v.EmptyDir != nil)
		given(&others, "csi", v.CSI != nil)
		given(&others, "image", v.Image != nil)
		for _, o := range others {
			found = append(found, Finding{
				Severity: Refuse, Path: path.Child(o), Element: v.Name, Value: o,
				Message: fmt.Sprintf("%s is not templated, it is the same for every node: put this entry into template.pod.volumes", o),
			})
		}
		switch {
		case len(sources) > 1:
			found = append(found, Finding{
				Severity: Refuse, Path: path, Element: v.Name, Value: strings.Join(sources, ", "),
				Message: "a volume has one source: keep one of these, and give the other an entry of its own",
			})
		case len(sources) == 0 && len(others) == 0:
			found = append(found, Finding{
				Severity: Refuse, Path: path, Element: v.Name,
				Message: "give one of secret, configMap and persistentVolumeClaim; if another one is written here (emptyDir, csi, image), " +
					"it cannot be templated and the installed schema dropped it: put that entry into template.pod.volumes",
			})
		}
	}
	return found
}

func podsSharedClaim(p pods) []Finding {
	if p.count <= 1 {
		return nil
	}
	return sharedClaims(p.listPath, p.list, fmt.Sprintf("all %d nodes would share this one claim", p.count))
}

func sharedClaims(listPath *field.Path, list []apiv1.TemplatedVolume, what string) []Finding {
	var found []Finding
	for i, v := range list {
		if v.PersistentVolumeClaim == nil || v.PersistentVolumeClaim.ClaimName == "" || strings.Contains(v.PersistentVolumeClaim.ClaimName, "{") {
			continue
		}
		found = append(found, Finding{
			Path:    listPath.Index(i).Child("persistentVolumeClaim", "claimName"),
			Element: v.Name, Value: v.PersistentVolumeClaim.ClaimName,
			Message: what + ": put {nodeId} or {nodePodName} into its name, or move the entry to template.pod.volumes if that is meant",
		})
	}
	return found
}

func podsUnmounted(p pods) []Finding {
	mounted := map[string]bool{}
	for _, c := range p.containers {
		addMounts(mounted, c.mounts)
	}
	var found []Finding
	for i, v := range p.list {
		if v.Name == "" || mounted[v.Name] || p.elsewhere[v.Name] {
			continue
		}
		found = append(found, Finding{
			Path: p.listPath.Index(i).Child("name"), Element: v.Name, Value: v.Name,
			Message: fmt.Sprintf("no container mounts %s, so it is of no use: add it to the volumeMounts of a container's template, or remove it", v.Name),
		})
	}
	return found
}
