package rolling

import "time"

// quorum is how the controllers stand.
type quorum struct {
	seen     bool
	leader   int32
	voters   int
	caughtUp map[int32]bool
}

// readQuorum judges by the leader's own clock alone, which is what DescribeQuorum
// gives all times in. The leader is always caught up with itself.
func (in Input) readQuorum() quorum {
	seen, ok := in.Quorum.Get()
	q := quorum{leader: -1, caughtUp: map[int32]bool{}}
	if !ok || seen.Leader < 0 {
		return q
	}
	q.seen, q.leader, q.voters = true, seen.Leader, len(seen.Voters)
	var now time.Time
	for _, v := range seen.Voters {
		if v.ID == seen.Leader {
			now = v.LastCaughtUp
		}
	}
	timeout := in.FetchTimeout
	if timeout <= 0 {
		timeout = DefaultFetchTimeout
	}
	for _, v := range seen.Voters {
		current := !now.IsZero() && now.Sub(v.LastCaughtUp) < timeout
		q.caughtUp[v.ID] = v.ID == seen.Leader || current
	}
	return q
}

// without counts the voters that are caught up other than one, and those that have
// to be: a majority, or of one or two all others, which is the best there is.
func (q quorum) without(id int32) (have, need int) {
	for voter, caughtUp := range q.caughtUp {
		if caughtUp && voter != id {
			have++
		}
	}
	others := q.voters
	if _, voter := q.caughtUp[id]; voter {
		others--
	}
	return have, min(majority(q.voters), others)
}

// majority of some voters.
func majority(of int) int { return of/2 + 1 }
