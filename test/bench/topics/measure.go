package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-kafka/sluice/test/bench/machine"
	"github.com/sluice-kafka/sluice/test/harness"
)

// size is what was measured with a number of topics.
type size struct {
	topics int
	kafka  string
	// start is how long the operator took from its start to ready, and resynced
	// until it had looked at all topics then.
	start, resynced time.Duration
	// rss in bytes, after a garbage collection.
	rss int64
	// look and bareLook are the times of each round of a look that finds nothing.
	look, bareLook []time.Duration
	// adminCalls, writes and logLines of one look.
	adminCalls, writes, logLines float64
	lives, bareLives             []lives
	// alone and during are how long each change took to reach Kafka, with nothing
	// beside it and while all topics were looked at.
	alone, during []time.Duration
	// loads are the load averages at each part's start.
	loads map[string]string
}

func (s *stage) measure(ctx context.Context, n int) (size, error) {
	m := size{topics: n, kafka: s.kafka.String(), loads: map[string]string{}}
	if err := s.load(ctx, n); err != nil {
		return m, fmt.Errorf("loading: %w", err)
	}
	for _, part := range []struct {
		name, what string
		measure    func(context.Context, *size) error
	}{
		{partStart, "Starting the operator again", s.measureStart},
		{partLook, "Looking at all topics, in turn with the bare calls", s.measureLooks},
		{partMemory, "Waiting for the operator's lowest memory", s.measureMemory},
		{partChange, fmt.Sprintf("Changing %d topics one after the other, alone and while all are looked at", s.changes), s.measureChanges},
		{partLives, fmt.Sprintf("Creating, changing and deleting %d topics, in turn with a bare loop", s.batch), s.measureLives},
	} {
		if !s.measures(part.name) {
			continue
		}
		m.loads[part.name] = machine.Load()
		err := harness.Step(s.out, fmt.Sprintf("[%d topics] %s", n, part.what), func() error { return part.measure(ctx, &m) })
		if err != nil {
			return m, fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return m, nil
}

func (s *stage) measureStart(ctx context.Context, m *size) error {
	if err := s.operator.Stop(); err != nil {
		return err
	}
	start := time.Now()
	if err := s.startOperator(ctx); err != nil {
		return err
	}
	m.start = time.Since(start)
	// It may not have begun to lead, or to look, yet.
	err := s.until(ctx, func(q standing) bool { return q.Topics == s.loaded && q.Waiting == 0 && q.InFlight == 0 })
	m.resynced = time.Since(start)
	return errors.Join(err, s.rest(ctx))
}

// lookRounds is how many times more often looks are measured than what takes
// longer.
const lookRounds = 3

func (s *stage) measureLooks(ctx context.Context, m *size) error {
	if err := s.profileLooks(ctx, m.topics); err != nil {
		return err
	}
	for round := range lookRounds*s.rounds + 1 {
		bare, err := s.bareLook(ctx, s.loaded)
		if err != nil {
			return err
		}
		before, err := s.counted(ctx)
		if err != nil {
			return err
		}
		look, err := s.resync(ctx)
		if err != nil {
			return err
		}
		after, err := s.counted(ctx)
		if err != nil {
			return err
		}
		if round == 0 {
			continue // both warm up
		}
		m.look, m.bareLook = append(m.look, look), append(m.bareLook, bare)
		fmt.Fprintf(s.out, "  bare: %s, operator: %s; load average %s\n", bare.Round(time.Millisecond), look.Round(time.Millisecond), machine.Load())
		m.adminCalls = max(m.adminCalls, after.adminCalls-before.adminCalls)
		m.writes = max(m.writes, after.writes-before.writes)
		m.logLines = max(m.logLines, after.logLines-before.logLines)
	}
	return nil
}

// counts are what the operator did so far.
type counts struct {
	adminCalls, writes, logLines float64
}

func (s *stage) counted(ctx context.Context) (c counts, err error) {
	read, err := s.operator.Metrics(ctx)
	if err != nil {
		return c, err
	}
	raw, err := os.ReadFile(s.operator.Log)
	if err != nil {
		return c, err
	}
	return counts{
		adminCalls: read.Sum(metricAdminCalls), writes: read.Sum(metricWrites),
		logLines: float64(strings.Count(string(raw), "\n")),
	}, nil
}

func (s *stage) measureMemory(ctx context.Context, m *size) error {
	if _, err := s.operator.Ask(ctx, "GET", "/debug/pprof/heap?gc=1"); err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(ctx, s.memoryWait)
	defer stop()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		rss, err := machine.RSS(s.operator.PID())
		if err != nil {
			return err
		}
		if m.rss == 0 || rss < m.rss {
			m.rss = rss
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return ctx.Err()
			}
			return s.writeProfile(context.WithoutCancel(ctx), fmt.Sprintf("heap-%d.pprof", m.topics), "/debug/pprof/heap")
		}
	}
}

func (s *stage) measureChanges(ctx context.Context, m *size) (err error) {
	for range s.changes {
		took, err := s.changeOne(ctx)
		if err != nil {
			return err
		}
		m.alone = append(m.alone, took)
	}
	if err := s.rest(ctx); err != nil {
		return err
	}
	during, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- s.lookWithoutEnd(during) }()
	for len(m.during) < s.changes && err == nil {
		var took time.Duration
		took, err = s.changeOne(ctx)
		m.during = append(m.during, took)
	}
	stop()
	return errors.Join(err, <-ended, s.rest(ctx))
}

// lookWithoutEnd has one look at all topics begin when another has ended.
func (s *stage) lookWithoutEnd(ctx context.Context) error {
	for ctx.Err() == nil {
		if _, err := s.resync(ctx); err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// changeOne changes an option of a topic and returns how long that took to reach
// Kafka.
func (s *stage) changeOne(ctx context.Context) (time.Duration, error) {
	s.injected++
	// Topics all over the set, another each time.
	n, value := s.injected*7919%s.loaded, retention+s.injected
	t, want := seeded(n), fmt.Sprint(value)
	start := time.Now()
	if err := s.kube.Patch(ctx, t, client.RawPatch(types.MergePatchType, retentionPatch(value))); err != nil {
		return 0, fmt.Errorf("changing topic %s: %w", t.Name, err)
	}
	bound, stop := context.WithTimeoutCause(ctx, patience, fmt.Errorf("topic %s: its change did not reach Kafka within %s", t.Name, patience))
	defer stop()
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for reached := false; ; {
		err := bareConfigs(bound, s.raw, []string{*t.Spec.TopicName}, []string{"retention.ms"}, func(_, have string) { reached = have == want })
		if err != nil {
			return 0, err
		}
		if reached {
			return time.Since(start), nil
		}
		select {
		case <-tick.C:
		case <-bound.Done():
			return 0, context.Cause(bound)
		}
	}
}

func (s *stage) measureLives(ctx context.Context, m *size) error {
	for i := range s.rounds {
		round := fmt.Sprintf("round-%d-%d", m.topics, i)
		l, err := s.live(ctx, bare, &bareLoop{kafka: s.raw, kube: s.kube}, round)
		if err != nil {
			return fmt.Errorf("the bare loop: %w", err)
		}
		m.bareLives = append(m.bareLives, l)
		s.tell("bare", l)
		if l, err = s.live(ctx, ours, operatorWorks{}, round); err != nil {
			return err
		}
		m.lives = append(m.lives, l)
		s.tell("operator", l)
	}
	return nil
}

func (s *stage) tell(who string, l lives) {
	fmt.Fprintf(s.out, "  %s: created in %s, changed in %s, deleted in %s; load average %s\n", who,
		l.create.Round(time.Millisecond), l.change.Round(time.Millisecond), l.remove.Round(time.Millisecond), machine.Load())
}
