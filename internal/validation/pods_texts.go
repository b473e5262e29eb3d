package validation

import (
	"fmt"
	"path"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sluice-kafka/sluice/internal/templating"
)

// textRole is what a text in a volume's source stands for.
type textRole int

const (
	roleName textRole = iota // of a Secret, ConfigMap or claim
	roleKey                  // in a Secret or ConfigMap
	rolePath                 // of a file in the volume
)

// sourceText is one text of a volume's source.
type sourceText struct {
	path   *field.Path
	volume string
	text   string
	role   textRole
}

// sourceTexts returns the texts that expansion replaces placeholders in.
func sourceTexts(p *field.Path, volume string, secret *corev1.SecretVolumeSource, configMap *corev1.ConfigMapVolumeSource,
	claim *corev1.PersistentVolumeClaimVolumeSource,
) []sourceText {
	var texts []sourceText
	add := func(p *field.Path, text string, role textRole) {
		texts = append(texts, sourceText{path: p, volume: volume, text: text, role: role})
	}
	items := func(p *field.Path, items []corev1.KeyToPath) {
		for i, item := range items {
			add(p.Index(i).Child("key"), item.Key, roleKey)
			add(p.Index(i).Child("path"), item.Path, rolePath)
		}
	}
	if secret != nil {
		add(p.Child("secret", "secretName"), secret.SecretName, roleName)
		items(p.Child("secret", "items"), secret.Items)
	}
	if configMap != nil {
		add(p.Child("configMap", "name"), configMap.Name, roleName)
		items(p.Child("configMap", "items"), configMap.Items)
	}
	if claim != nil {
		add(p.Child("persistentVolumeClaim", "claimName"), claim.ClaimName, roleName)
	}
	return texts
}

func (p pods) templatedTexts() []sourceText {
	var texts []sourceText
	for i, v := range p.list {
		texts = append(texts, sourceTexts(p.listPath.Index(i), v.Name, v.Secret, v.ConfigMap, v.PersistentVolumeClaim)...)
	}
	return texts
}

// badPlaceholder words what is wrong with the braces in s; it is empty where
// nothing is.
func badPlaceholder(s string) string {
	_, unknown, unclosed := templating.Placeholders(s)
	switch {
	case len(unknown) > 0:
		return fmt.Sprintf("%s is no placeholder and stays as it is", cutMiddle(unknown[0], 60))
	case unclosed:
		return "a brace is opened and not closed, so it stays as it is"
	}
	return ""
}

const writePlaceholder = "write " + templating.PlaceholderNodeID + " or " + templating.PlaceholderNodePodName

func podsPlaceholder(p pods) []Finding {
	var found []Finding
	for _, t := range p.templatedTexts() {
		why := badPlaceholder(t.text)
		if why == "" {
			continue
		}
		f := Finding{Severity: Refuse, Path: t.path, Element: t.volume, Value: t.text,
			Message: why + ", and braces are never legal here: " + writePlaceholder}
		if t.role == rolePath {
			f.Severity = Warn
			f.Message = why + ": " + writePlaceholder + " if one was meant"
		}
		found = append(found, f)
	}
	return found
}

// podsLiteralPlaceholder warns only: plain volumes are never expanded, and what
// works literally today goes on working.
func podsLiteralPlaceholder(p pods) []Finding {
	var found []Finding
	base := p.base.Child("pod", "volumes")
	for i, v := range p.volumes() {
		texts := sourceTexts(base.Index(i), v.Name, v.Secret, v.ConfigMap, v.PersistentVolumeClaim)
		raw := func(name string, j *apiextensionsv1.JSON) {
			// Braces are part of JSON; only what is certainly a placeholder counts.
			if j == nil {
				return
			}
			for _, known := range []string{templating.PlaceholderNodeID, templating.PlaceholderNodePodName} {
				if strings.Contains(string(j.Raw), known) {
					texts = append(texts, sourceText{path: base.Index(i).Child(name), volume: v.Name, text: known})
				}
			}
		}
		raw("emptyDir", v.EmptyDir)
		raw("csi", v.CSI)
		raw("image", v.Image)
		for _, t := range texts {
			if why := literalPlaceholder(t.text); why != "" {
				found = append(found, Finding{Path: t.path, Element: v.Name, Value: t.text, Message: why + " in template.pod.volumes; " +
					"a volume that differs from node to node goes into template.pod.templatedVolumes"})
			}
		}
	}
	return found
}

func literalPlaceholder(s string) string {
	if known, _, _ := templating.Placeholders(s); len(known) > 0 {
		return known[0] + " is not replaced"
	}
	return badPlaceholder(s)
}

func podsExpansion(p pods) []Finding {
	var found []Finding
	texts := p.templatedTexts()
	byID, byPodName := someNodes(unlike(p.nodes, false), len(texts)), someNodes(unlike(p.nodes, true), len(texts))
	for _, t := range texts {
		if t.role != rolePath && badPlaceholder(t.text) != "" {
			continue // said already
		}
		nodes := byID
		if strings.Contains(t.text, templating.PlaceholderNodePodName) {
			nodes = byPodName
		}
		if node, why := invalidExpansion(t, nodes); why != "" {
			f := Finding{Severity: Refuse, Path: t.path, Element: t.volume, Value: t.text, Message: why}
			if templating.HasPlaceholder(t.text) {
				f.Message = fmt.Sprintf("for node %d it becomes %s: %s", node.ID, shown(templating.Text(t.text, node)), why)
			}
			found = append(found, f)
		}
	}
	return found
}

// invalidExpansion returns the first node for which a text does not become what
// Kubernetes accepts, and why. It is empty where there is none.
func invalidExpansion(t sourceText, nodes []templating.Node) (templating.Node, string) {
	if !templating.HasPlaceholder(t.text) {
		nodes = nodes[:1]
	}
	for _, n := range nodes {
		if why := invalidText(t.role, templating.Text(t.text, n)); why != "" {
			return n, why
		}
	}
	return templating.Node{}, ""
}

func invalidText(role textRole, text string) string {
	switch role {
	case roleName:
		if len(utilvalidation.IsDNS1123Subdomain(text)) > 0 {
			return "the name of a Secret, ConfigMap or claim has lower-case letters, digits, '-' and '.', begins and ends with a letter or digit, and has at most 253 characters"
		}
	case roleKey:
		if len(utilvalidation.IsConfigMapKey(text)) > 0 {
			return "a key has letters, digits, '-', '_' and '.', is not . or .., does not start with .., and has at most 253 characters"
		}
	case rolePath:
		return invalidItemPath(text)
	}
	return ""
}

// invalidItemPath follows ValidateLocalNonReservedPath in Kubernetes'
// pkg/apis/core/validation.
func invalidItemPath(text string) string {
	switch {
	case text == "":
		return "an item needs a path: give the file's name in the volume"
	case path.IsAbs(text):
		return "a path in a volume is relative: take away the leading /"
	case strings.HasPrefix(text, ".."):
		return "a path in a volume must not start with ..: name a file inside the volume"
	}
	for segment := range strings.SplitSeq(text, "/") {
		if segment == ".." {
			return "a path in a volume must not have a segment ..: name a file inside the volume"
		}
	}
	return ""
}

func podsItemsCollide(p pods) []Finding {
	total := 0
	for _, t := range p.templatedTexts() {
		if t.role == rolePath {
			total++
		}
	}
	nodes := someNodes(p.nodes, total)
	var found []Finding
	for i, v := range p.list {
		if v.Secret != nil {
			found = append(found, itemsCollide(p.listPath.Index(i).Child("secret", "items"), v.Name, v.Secret.Items, nodes)...)
		}
		if v.ConfigMap != nil {
			found = append(found, itemsCollide(p.listPath.Index(i).Child("configMap", "items"), v.Name, v.ConfigMap.Items, nodes)...)
		}
	}
	return found
}

// itemsCollide reports each item once, for the first node on which an earlier
// one has its path.
func itemsCollide(base *field.Path, volume string, items []corev1.KeyToPath, nodes []templating.Node) []Finding {
	var found []Finding
	reported := map[int]bool{}
	for _, n := range nodes {
		first := make(map[string]int, len(items))
		for i, item := range items {
			file := path.Clean(templating.Text(item.Path, n))
			j, dup := first[file]
			if !dup {
				first[file] = i
				continue
			}
			if item.Path == "" || reported[i] {
				continue
			}
			reported[i] = true
			found = append(found, Finding{
				// Which of the two comes second is no part of the fault.
				Severity: Refuse, Path: base.Index(i).Child("path"), Element: volume, Value: file,
				Message: fmt.Sprintf("for node %d it is the same file as items[%d]: give each item a path of its own", n.ID, j),
			})
		}
	}
	return found
}
