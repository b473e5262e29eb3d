package topic

import (
	"encoding/json"
	"net/http"

	"github.com/sluice-kafka/sluice/internal/batch"
)

// pathResync is where a full look at all topics is asked for, beside the metrics
// and behind the flag that opens /debug/pprof.
const pathResync = "/debug/resync"

// clusterStanding tells how far a cluster's topics are.
type clusterStanding struct {
	Cluster string `json:"cluster"`
	// Topics are the resources that are known; none on a replica that does not
	// lead.
	Topics int `json:"topics"`
	// Waiting could be worked on, Delayed wait for a time to come, InFlight are
	// being worked on.
	Waiting  int `json:"waiting"`
	Delayed  int `json:"delayed"`
	InFlight int `json:"inFlight"`
}

// debugResync answers a GET with how each cluster's queue stands, and a POST
// with the same after it has queued every topic.
func (c *Controller) debugResync() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		switch req.Method {
		case http.MethodGet, http.MethodHead:
		case http.MethodPost:
			for _, l := range c.all() {
				l.resyncAll()
			}
		default:
			w.Header().Set("Allow", "GET, POST")
			http.Error(w, "POST to have all topics looked at, GET to see how far that is", http.StatusMethodNotAllowed)
			return
		}
		loops := c.all()
		standings := make([]clusterStanding, len(loops))
		for i, l := range loops {
			standings[i] = l.standing()
		}
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(standings); err != nil {
			return // whoever asked is gone
		}
	})
}

// resyncAll releases all slices of a resync at once, the most urgent resources
// first. Keys that wait already keep their place.
func (l *loop) resyncAll() {
	l.queue.Add(batch.Resync, l.index.keysByUrgency()...)
}

func (l *loop) standing() clusterStanding {
	s := l.queue.Standing()
	return clusterStanding{
		Cluster: l.id, Topics: l.index.len(),
		Waiting: s.Waiting, Delayed: s.Delayed, InFlight: s.InFlight,
	}
}
