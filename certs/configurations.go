package certs

import (
	"context"
	"errors"
	"fmt"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// fieldOwner is the field manager of Sluice's writes.
const fieldOwner = client.FieldOwner("sluice")

// configuration is a webhook configuration as read from the API server.
type configuration struct {
	kind string
	// object is a ValidatingWebhookConfiguration or MutatingWebhookConfiguration.
	object client.Object
}

// clients are the client configurations of all webhooks in object, to be read
// and changed in place.
func clients(object client.Object) []*admissionv1.WebhookClientConfig {
	var out []*admissionv1.WebhookClientConfig
	switch o := object.(type) {
	case *admissionv1.ValidatingWebhookConfiguration:
		for i := range o.Webhooks {
			out = append(out, &o.Webhooks[i].ClientConfig)
		}
	case *admissionv1.MutatingWebhookConfiguration:
		for i := range o.Webhooks {
			out = append(out, &o.Webhooks[i].ClientConfig)
		}
	}
	return out
}

// readConfigurations reads the named configurations from the API server itself.
// One that does not exist has no client to be cut off, and is left out; that is
// said once, since without it nothing is admitted by Sluice.
func (k *keeper) readConfigurations(ctx context.Context) ([]configuration, error) {
	wanted := []struct {
		kind, name string
		object     client.Object
	}{
		{"ValidatingWebhookConfiguration", k.ValidatingConfiguration, &admissionv1.ValidatingWebhookConfiguration{}},
		{"MutatingWebhookConfiguration", k.MutatingConfiguration, &admissionv1.MutatingWebhookConfiguration{}},
	}
	var out []configuration
	for _, w := range wanted {
		if w.name == "" {
			continue
		}
		err := k.reader.Get(ctx, client.ObjectKey{Name: w.name}, w.object)
		if apierrors.IsNotFound(err) {
			if !k.missing[w.kind] {
				k.logger(ctx).Error(err, "Failed to find a webhook configuration: nothing that it names is checked or completed. Install the chart again",
					"kind", w.kind, "name", w.name)
			}
			k.missing[w.kind] = true
			continue
		}
		delete(k.missing, w.kind)
		if err != nil {
			return nil, fmt.Errorf("reading %s %s to keep its caBundle: %w", w.kind, w.name, err)
		}
		out = append(out, configuration{kind: w.kind, object: w.object})
	}
	return out, nil
}

// publishedIn returns all CAs that the configurations carry, and those that
// every one of their webhooks carries.
func publishedIn(configurations []configuration) (anywhere, everywhere bundle) {
	anywhere = bundle{}
	for _, c := range configurations {
		for _, cc := range clients(c.object) {
			cas, _ := parseBundle(cc.CABundle)
			anywhere.add(cas)
			here := bundleOf(cas...)
			if everywhere == nil {
				everywhere = here
				continue
			}
			for fp := range everywhere {
				if _, ok := here[fp]; !ok {
					delete(everywhere, fp)
				}
			}
		}
	}
	return anywhere, everywhere
}

// publish brings want into every webhook of the configurations, and writes only
// those that differ. A failure with one does not keep it from the other.
//
// The patch is bound to the resource version that was read: since the Secret was
// read after the configuration, a replica that knew less cannot take back what
// another published meanwhile.
func (k *keeper) publish(ctx context.Context, configurations []configuration, want bundle) error {
	var failures []error
	for _, c := range configurations {
		base, _ := c.object.DeepCopyObject().(client.Object)
		if !setBundle(c.object, want) {
			continue
		}
		patch := client.StrategicMergeFrom(base, client.MergeFromWithOptimisticLock{})
		if err := k.writer.Patch(ctx, c.object, patch, fieldOwner); err != nil {
			failures = append(failures, fmt.Errorf("patching the caBundle of %s %s: %w", c.kind, c.object.GetName(), err))
			continue
		}
		k.logger(ctx).Info("Published the CA bundle", "kind", c.kind, "name", c.object.GetName(), "cas", describe(want))
	}
	return errors.Join(failures...)
}

// setBundle sets the caBundle where it is another set of CAs, or has anything
// besides certificates in it.
func setBundle(object client.Object, want bundle) (changed bool) {
	for _, cc := range clients(object) {
		cas, clean := parseBundle(cc.CABundle)
		if clean && len(cas) == len(want) && bundleOf(cas...).equal(want) {
			continue
		}
		cc.CABundle = want.encode()
		changed = true
	}
	return changed
}

// describe names the CAs for the log.
func describe(b bundle) []string {
	cas, _ := parseBundle(b.encode())
	out := make([]string, 0, len(cas))
	for _, ca := range cas {
		out = append(out, fmt.Sprintf("%s until %s", ca.Subject.CommonName, ca.NotAfter.UTC().Format(time.RFC3339)))
	}
	return out
}
