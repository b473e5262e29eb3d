package certs

import "time"

// servingInput is what the decision to serve a new pair rests on.
type servingInput struct {
	now time.Time
	// served is nil where nothing has been served yet.
	served, target *pair
	// publishedSince is when this replica first saw target's CAs in all webhook
	// configurations, without a break since.
	publishedSince time.Time
	// othersTrusted tells that a webhook configuration carried CAs other than
	// target's before this replica added anything.
	othersTrusted bool
	// propagationDelay is how long an API server may take to see a change of a
	// webhook configuration.
	propagationDelay time.Duration
}

// planServing decides whether target is to be served now; if not, after how
// long to ask again. It is asked only when target's CAs are in all webhook
// configurations.
func planServing(in servingInput) (serve bool, wait time.Duration, reason string) {
	idle := in.served == nil || in.served.expired(in.now)
	switch {
	case in.target.same(in.served):
		return false, 0, "it is served already"
	case len(in.target.cas) == 0:
		return true, 0, "it stands under no CA that would have to be published first"
	case idle && !in.othersTrusted:
		return true, 0, "no API server trusts another certificate"
	}
	if wait = in.propagationDelay - in.now.Sub(in.publishedSince); wait > 0 {
		return false, wait, "API servers may not have seen its CA yet"
	}
	return true, 0, "its CA has been published for long enough"
}
