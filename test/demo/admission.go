package main

import (
	"context"
	"strings"
)

// refusals applies manifests with a mistake each; the path and the mend must be
// in the API server's answer.
func (d *demo) refusals(ctx context.Context) error {
	d.chapter("Mistakes are refused at kubectl apply, with the path and the mend")
	for _, m := range []struct{ file, path string }{
		{"bad/kafka-cordoned.yaml", "spec.kafka.config[cordoned.log.dirs]"},
		{"bad/pool-duplicate-volume.yaml", "spec.template.pod.templatedVolumes[1].name"},
		{"bad/pool-unknown-placeholder.yaml", "spec.template.pod.templatedVolumes[0].secret.secretName"},
		{"bad/topic-name.yaml", "spec.topicName"},
		{"bad/topic-type.yaml", "spec.partitions"},
	} {
		refusal, _, err := d.kubectl.apply(ctx, m.file)
		if err != nil {
			return err
		}
		if err := d.check(strings.Contains(refusal, m.path), "refused at %s", m.path); err != nil {
			return err
		}
	}
	return nil
}

// acceptances applies a good cluster and one that deserves a warning.
func (d *demo) acceptances(ctx context.Context) error {
	d.chapter("Good manifests pass, and what is legal but strange gets a warning")
	for _, m := range []struct{ file, warning string }{
		{"good/cluster.yaml", ""},
		{"good/connect-unmounted.yaml", "spec.template.pod.templatedVolumes[0]"},
	} {
		refusal, warned, err := d.kubectl.apply(ctx, m.file)
		if err != nil {
			return err
		}
		ok := refusal == "" && (m.warning == "") == (len(warned) == 0)
		for _, w := range warned {
			ok = ok && strings.Contains(w, m.warning)
		}
		if err := d.check(ok, "accepted with %s", counted(len(warned), "warning")); err != nil {
			return err
		}
	}
	return nil
}
