package rebalance

import (
	"testing"
	"time"

	testingclock "k8s.io/utils/clock/testing"

	"github.com/sluice-kafka/sluice/internal/observed"
)

func TestWhatIsOldIsForgotten(t *testing.T) {
	clock := testingclock.NewFakeClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	r := recent{clock: clock}
	for i := range int32(100) {
		p := observed.Partition{Topic: "t", ID: i, Replicas: []int32{0}}
		r.add([]Assignment{{Topic: "t", Partition: i, Replicas: []int32{0, 1}}}, []observed.Partition{p})
		if !r.has(&p, 2) || r.has(&p, 3) {
			t.Errorf("partition %d is not remembered as it was begun", i)
		}
		clock.Step(settle / 2)
	}
	if len(r.begun) > 2 {
		t.Errorf("%d partitions are remembered", len(r.begun))
	}
}
