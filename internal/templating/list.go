package templating

import (
	"errors"
	"fmt"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

// ErrAnnotation marks a list of templated volumes in an annotation that cannot
// be read.
var ErrAnnotation = errors.New("annotation " + apiv1.AnnotationPodTemplatedVolumes + " is not a list of templated volumes")

// List returns the templated volumes of one object: those of the field
// template.pod.templatedVolumes where there are any, else those of the
// annotation AnnotationPodTemplatedVolumes, which a blank text counts as not
// there. FromAnnotation tells that the annotation decided, also where it holds
// an empty list or (with an error that is ErrAnnotation) cannot be read.
//
// The annotation is YAML or JSON. As in the field, names are case-sensitive and
// fields that nobody knows are passed over.
func List(field []apiv1.TemplatedVolume, annotation string) (list []apiv1.TemplatedVolume, fromAnnotation bool, err error) {
	if len(field) > 0 {
		return field, false, nil
	}
	if strings.TrimSpace(annotation) == "" {
		return nil, false, nil
	}
	list, err = parse(annotation)
	if err != nil {
		return nil, true, fmt.Errorf("%w: %w; write it as YAML or JSON, like [{name: creds, secret: {secretName: \"creds-%s\"}}]",
			ErrAnnotation, err, PlaceholderNodeID)
	}
	return list, true, nil
}

func parse(annotation string) ([]apiv1.TemplatedVolume, error) {
	asJSON, err := yaml.YAMLToJSONStrict([]byte(annotation))
	if err != nil {
		return nil, err
	}
	var list []apiv1.TemplatedVolume
	if err := utiljson.Unmarshal(asJSON, &list); err != nil {
		return nil, err
	}
	return list, nil
}
