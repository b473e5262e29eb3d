// Package certs keeps the certificate that the webhooks and the metrics are
// served with, and keeps the API server trusting it.
//
// One Secret holds the pair that all replicas serve. In self-signed mode the
// replicas fill it themselves (the first writer wins, the others adopt); in
// cert-manager mode cert-manager does. What happens after the Secret changed is
// the same in both modes and on each replica by itself, so that a rotation, a
// restart and a deleted Secret take one path:
//
//  1. The new pair's CA is added to the caBundle of the webhook configurations,
//     beside the CAs that are there.
//  2. When it has been there for the propagation delay, so that every API
//     server has seen it, the new pair is served. Until then the old one is.
//  3. A CA that neither pair needs leaves the bundle after the retirement
//     delay, so that a replica that is late is still trusted.
//
// Each replica measures the delays on its own clock from what it saw itself, so
// clocks that stand apart shorten nothing.
//
// The bundle is kept by Sluice in cert-manager mode too, and not by
// cert-manager's cainjector: that replaces the CA in one step, without the
// overlap, and is an optional part of cert-manager.
package certs
