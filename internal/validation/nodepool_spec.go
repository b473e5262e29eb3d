package validation

import (
	"fmt"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/util/validation/field"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/nodepool"
)

func clusterLabelPath() *field.Path {
	return field.NewPath("metadata", "labels").Key(apiv1.LabelCluster)
}

func poolClusterLabel(in poolInput) []Finding {
	if in.pool.Labels[apiv1.LabelCluster] != "" {
		return nil
	}
	return []Finding{{
		Severity: Refuse, Path: clusterLabelPath(),
		Message: "a pool without this label belongs to no cluster and gets no nodes: set it to the name of the Kafka",
	}}
}

// poolClusterChanged: a node keeps the cluster ID that its disks were formatted
// with, and refuses to start in another cluster.
func poolClusterChanged(in poolInput) []Finding {
	now := in.pool.Labels[apiv1.LabelCluster]
	if in.old == nil || now == "" || len(in.observed().NodeIDs) == 0 {
		return nil
	}
	was := in.old.Labels[apiv1.LabelCluster]
	if was == "" || was == now {
		return nil
	}
	return []Finding{{
		Severity: Refuse, Path: clusterLabelPath(), Value: now,
		Message: fmt.Sprintf("the pool has nodes that belong to Kafka %s, with their data, and they cannot move to another cluster: "+
			"set the label back, and create another pool for %s", shown(was), shown(now)),
	}}
}

func poolRoleMissing(in poolInput) []Finding {
	if len(in.pool.Spec.Roles) > 0 {
		return nil
	}
	return []Finding{{
		Severity: Refuse, Path: field.NewPath("spec", "roles"),
		Message: "the nodes of a pool need a role: write broker, controller or both",
	}}
}

func poolRoleUnknown(in poolInput) []Finding {
	var found []Finding
	for i, role := range in.pool.Spec.Roles {
		found = append(found, unknownWord(field.NewPath("spec", "roles").Index(i), role, role, apiv1.RoleBroker, apiv1.RoleController)...)
	}
	return found
}

// unknownWord reports a word that is none of those that there are. An absent one
// is another rule's matter.
func unknownWord(path *field.Path, element, word string, known ...string) []Finding {
	if word == "" || slices.Contains(known, word) {
		return nil
	}
	return []Finding{{
		Severity: Refuse, Path: path, Element: element, Value: word,
		Message: "there is no such thing: write " + oneOf(known),
	}}
}

func poolReplicasNegative(in poolInput) []Finding {
	r := in.pool.Spec.Replicas
	if r == nil || *r >= 0 {
		return nil
	}
	return []Finding{{
		Severity: Refuse, Path: field.NewPath("spec", "replicas"), Value: strconv.FormatInt(*r, 10),
		Message: "a pool cannot have fewer than no nodes: write 0 or more",
	}}
}

func poolNodeIDs(in poolInput) []Finding {
	var found []Finding
	for _, key := range []string{apiv1.AnnotationNextNodeIDs, apiv1.AnnotationRemoveNodeIDs} {
		text := in.pool.Annotations[key]
		if _, err := nodepool.ParseIDs(text); err != nil {
			found = append(found, Finding{
				Severity: Refuse, Path: field.NewPath("metadata", "annotations").Key(key), Element: key, Value: text,
				Message: err.Error() + "; write IDs and ranges of them, as [0, 1, 10-20]",
			})
		}
	}
	return found
}
