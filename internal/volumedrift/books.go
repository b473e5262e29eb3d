package volumedrift

import (
	"maps"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

// books are the records of a cluster's owners.
type books struct {
	owners []Owner
	// before and after are the records as they are and as they are to be.
	before, after map[Owner]Record
	// useless are the restarts that did not help, by their owner.
	useless map[Owner][]*verdict
	// unreadable records, by their owner, stop it as well.
	unreadable map[Owner]error
}

// openBooks reads all records and strikes out the restarts that are over.
func openBooks(c *Cluster, verdicts []*verdict) *books {
	b := &books{
		owners: c.owners(), before: map[Owner]Record{}, after: map[Owner]Record{},
		useless: map[Owner][]*verdict{}, unreadable: map[Owner]error{},
	}
	byName := make(map[string]*verdict, len(verdicts))
	for _, v := range verdicts {
		byName[v.Name] = v
	}
	for _, o := range b.owners {
		record, err := parseRecord(c.Object(o).GetAnnotations()[apiv1.AnnotationVolumeRestarts])
		if err != nil {
			b.unreadable[o] = err
			continue
		}
		b.before[o], b.after[o] = record, Record{}
		for _, name := range sortedKeys(record) {
			attempt, v := record[name], byName[name]
			if over(attempt, v, o) {
				continue
			}
			b.after[o][name] = attempt
			if v.state == drifted && v.Live.UID != attempt.UID {
				b.useless[o] = append(b.useless[o], v)
			}
		}
	}
	return b
}

// over tells whether a restart needs no more to be remembered. Of a pod whose
// state is unknown that cannot be told.
func over(a Attempt, v *verdict, o Owner) bool {
	switch {
	case v == nil:
		return true // the node is gone
	case v.state == unknown:
		return false
	case v.state == current || v.owner() != o:
		return true
	}
	return v.Live.UID != a.UID && v.wanted != a.Wanted
}

// closed tells whether no pod may be restarted for an owner.
func (b *books) closed(o Owner) bool {
	return b.unreadable[o] != nil || len(b.useless[o]) > 0
}

// underWay names a pod whose restart was begun and that has no successor yet.
func (b *books) underWay(verdicts []*verdict) string {
	for _, v := range verdicts {
		if v.life != missing && v.life != going {
			continue
		}
		for _, o := range b.owners {
			if _, ok := b.after[o][v.Name]; ok {
				return v.Name
			}
		}
	}
	return ""
}

// begin notes the restart of a pod.
func (b *books) begin(v *verdict) {
	b.after[v.owner()][v.Name] = Attempt{UID: v.Live.UID, Wanted: v.wanted}
}

func (b *books) changes() []OwnerRecord {
	var out []OwnerRecord
	for _, o := range b.owners {
		if b.unreadable[o] == nil && !maps.Equal(b.before[o], b.after[o]) {
			out = append(out, OwnerRecord{Owner: o, Record: b.after[o]})
		}
	}
	return out
}
