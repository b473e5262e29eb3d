package brokerconfig_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sluice-kafka/sluice/internal/brokerconfig"
	"github.com/sluice-kafka/sluice/internal/configdef"
	"github.com/sluice-kafka/sluice/internal/observed"
)

// process is a broker that runs: what it read from its file, and what is set
// dynamically for it.
type process struct {
	file, own map[string]string
	away      bool
}

// cluster imitates how Kafka keeps and refuses options of brokers.
type cluster struct {
	brokers map[int32]*process
	all     map[string]string
	level   int16
	elr     bool
}

// playground are options of every kind, with values that are tried.
var playground = map[string][]string{
	"log.retention.ms":                         {"1000", " 2000 "},
	"log.cleaner.min.cleanable.ratio":          {"0.5", "0.50", "0.25"},
	"log.cleanup.policy":                       {"delete", "compact,delete", "compact , delete"},
	"compression.type":                         {"zstd", "producer"},
	"unclean.leader.election.enable":           {"true", "FALSE", "false"},
	"min.insync.replicas":                      {"1", "2", "3"},
	"num.io.threads":                           {"1", "8", "50"},
	"max.connections":                          {"100", "200"},
	"ssl.cipher.suites":                        {"a,b", "a, b", ""},
	"ssl.protocol":                             {"TLSv1.2", "TLSv1.3"},
	"ssl.secure.random.implementation":         {"x", "y"},
	"num.partitions":                           {"1", "2"},
	"leader.replication.throttled.rate":        {"10", "20"},
	plain + "max.connections":                  {"5", "2147483647"},
	plain + "connections.max.reauth.ms":        {"5", "6"},
	brokerconfig.CordonedLogDirs:               {"*", "", "/a"},
	"listener.name.gone-1.num.network.threads": {"2", "4"},
}

func base(name string) string {
	if _, b, ok := configdef.OfListener(name); ok {
		return b
	}
	return name
}

func option(name string) configdef.Option {
	o, _ := configdef.Broker(newest, base(name))
	return o
}

// describe is what a broker reports of itself, as ConfigHelper in Kafka puts it
// together.
func (c *cluster) describe(id int32) observed.Config {
	p := c.brokers[id]
	config := observed.Config{}
	for name := range playground {
		names := []string{name}
		switch {
		case name == "log.retention.ms":
			names = append(names, "log.retention.hours")
		case base(name) != name:
			names = append(names, base(name))
		}
		var synonyms []observed.ConfigSynonym
		for _, layer := range []struct {
			values map[string]string
			source observed.ConfigSource
		}{{p.own, observed.SourceBroker}, {c.all, observed.SourceDefault}, {p.file, observed.SourceStatic}} {
			for _, n := range names {
				if v, ok := layer.values[n]; ok {
					synonyms = append(synonyms, from(layer.source, n, v))
				}
			}
		}
		for _, n := range names {
			if d := option(n).Default; d != nil && base(n) == n {
				synonyms = append(synonyms, inKafka(n, *d))
			}
		}
		first := slices.IndexFunc(synonyms, func(s observed.ConfigSynonym) bool { return s.Name == name })
		switch {
		case first >= 0:
			config[name] = entry(name, synonyms[first:]...)
		case base(name) == name:
			config[name] = observed.ConfigEntry{}
		}
	}
	return config
}

func (c *cluster) look() brokerconfig.Live {
	l := brokerconfig.Live{Brokers: map[int32]observed.Of[observed.Config]{}, Features: features(c.level, c.elr)}
	for id, p := range c.brokers {
		if p.away {
			l.Brokers[id] = observed.Unseen[observed.Config](errAway)
		} else {
			l.Brokers[id] = observed.Seen(c.describe(id))
		}
	}
	all := observed.Config{}
	for name, v := range c.all {
		all[name] = entry(name, onAll(name, v))
	}
	l.Default = observed.Seen(all)
	return l
}

// effective is what a broker goes by; what it would without a file of its own,
// but with that of f, is what is wanted.
func (c *cluster) effective(p *process, name string) string {
	names := []string{name, base(name)}
	for _, layer := range []map[string]string{p.own, c.all, p.file} {
		if v, ok := layer[name]; ok {
			return v
		}
	}
	for _, layer := range []map[string]string{p.own, c.all, p.file} {
		if v, ok := layer[names[1]]; ok {
			return v
		}
	}
	if d := option(name).Default; d != nil {
		return *d
	}
	if name == "log.retention.ms" {
		return strconv.Itoa(168 * 3_600_000)
	}
	return "nothing"
}

// apply makes a call, or says why Kafka would refuse it.
func (c *cluster) apply(id int32, ops []brokerconfig.Op) error {
	target := c.all
	if id >= 0 {
		target = c.brokers[id].own
	}
	for _, op := range ops {
		o := option(op.Name)
		perBroker := o.Update == configdef.PerBroker
		switch {
		case id < 0 && perBroker:
			return fmt.Errorf("%s is set for all", op.Name)
		case op.Name == "min.insync.replicas" && c.elr && (id >= 0 || op.Delete):
			return fmt.Errorf("%+v with ELR", op)
		case op.Name == brokerconfig.CordonedLogDirs && (c.level < 30 || len(ops) > 1):
			return fmt.Errorf("%+v at level %d, one of %d", op, c.level, len(ops))
		}
		before := map[int32]string{}
		for broker, p := range c.brokers {
			before[broker] = c.effective(p, op.Name)
		}
		if op.Delete {
			delete(target, op.Name)
		} else {
			target[op.Name] = op.Value
		}
		for broker, p := range c.brokers {
			was, _ := strconv.Atoi(strings.TrimSpace(before[broker]))
			is, _ := strconv.Atoi(strings.TrimSpace(c.effective(p, op.Name)))
			if op.Name == "num.io.threads" && !p.away && (is > 2*was || is < was/2) {
				return fmt.Errorf("%+v changes broker %d from %d to %d threads", op, broker, was, is)
			}
		}
	}
	return nil
}

func pick(r *rand.Rand, chance float64, listed func(string) bool) map[string]string {
	values := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(playground)) {
		if listed(name) && r.Float64() < chance {
			values[name] = playground[name][r.IntN(len(playground[name]))]
		}
	}
	return values
}

// newCluster has whatever anybody may have set.
func newCluster(r *rand.Rand) *cluster {
	c := &cluster{brokers: map[int32]*process{}, level: int16(29 + r.IntN(2)), elr: r.IntN(2) == 0}
	c.all = pick(r, 0.4, func(name string) bool {
		u := option(name).Update
		return name != plain+"connections.max.reauth.ms" && (u == configdef.ClusterWide || u == configdef.DynamicOnly)
	})
	if _, ok := c.all["min.insync.replicas"]; c.elr && !ok {
		c.all["min.insync.replicas"] = "1" // Kafka's own doing
	}
	read := pick(r, 0.4, func(name string) bool { return option(name).Update != configdef.DynamicOnly })
	for id := int32(3); id < 3+1+int32(r.IntN(3)); id++ {
		own := pick(r, 0.3, func(name string) bool {
			return option(name).Update != configdef.ReadOnly && (name != brokerconfig.CordonedLogDirs || c.level >= 30) && (name != "min.insync.replicas" || !c.elr)
		})
		c.brokers[id] = &process{file: maps.Clone(read), own: own, away: r.IntN(4) == 0}
		if r.IntN(3) == 0 { // it was started at another time
			c.brokers[id].file = pick(r, 0.4, func(name string) bool { return option(name).Update != configdef.DynamicOnly })
		}
	}
	return c
}

// wantedFiles are rendered from some spec.kafka.config.
func wantedFiles(r *rand.Rand, c *cluster) map[int32]brokerconfig.File {
	var pairs []string
	for name, value := range pick(r, 0.4, func(name string) bool {
		return name != brokerconfig.CordonedLogDirs && !strings.Contains(name, "gone")
	}) {
		pairs = append(pairs, name, strconv.Quote(value))
	}
	files := map[int32]brokerconfig.File{}
	for id := range c.brokers {
		in := input(pairs...)
		in.Node, in.Cordoned = node(id, "disks", "broker"), r.IntN(2) == 0
		files[id] = brokerconfig.Render(in)
	}
	return files
}

// converge makes calls until there is nothing left to do, and says how often
// something other than a number of threads was.
func (c *cluster) converge(files map[int32]brokerconfig.File) (rounds int, held []string, _ error) {
	list := slices.Collect(maps.Values(files))
	for range 20 {
		look := c.look()
		var calls []brokerconfig.Op
		for id, f := range files {
			change := brokerconfig.DiffBroker(f, look)
			for _, ops := range [][]brokerconfig.Op{change.Cordon, change.Options} {
				if c.brokers[id].away && len(ops) > 0 {
					return rounds, nil, fmt.Errorf("broker %d is away, and is to be changed: %+v", id, ops)
				}
				if err := c.apply(id, ops); err != nil {
					return rounds, nil, err
				}
				calls = append(calls, ops...)
			}
		}
		all := brokerconfig.DiffDefault(list, look)
		if err := c.apply(-1, all.Options); err != nil {
			return rounds, nil, err
		}
		calls = append(calls, all.Options...)
		if len(calls) == 0 {
			return rounds, all.Held, nil
		}
		if slices.ContainsFunc(calls, func(op brokerconfig.Op) bool { return op.Name != "num.io.threads" }) {
			rounds++
		}
	}
	return rounds, nil, fmt.Errorf("it never comes to rest: %+v", brokerconfig.DiffDefault(list, c.look()))
}

// check compares what the brokers go by with what they would if they were
// started anew, with nothing set dynamically.
func (c *cluster) check(t *testing.T, files map[int32]brokerconfig.File, held []string) {
	t.Helper()
	pristine := &cluster{all: map[string]string{}}
	for id, p := range c.brokers {
		if p.away {
			continue
		}
		fresh := &process{file: files[id].Options}
		for name := range playground {
			o := option(name)
			_, wanted := files[id].Options[name]
			switch {
			case o.Update == configdef.ReadOnly || o.Update == configdef.DynamicOnly:
				continue
			case name == brokerconfig.CordonedLogDirs && c.level < 30, slices.Contains(held, name):
				continue // Kafka refuses, or would
			case name == "ssl.secure.random.implementation" && !wanted:
				continue // there is nothing that could be set
			}
			got, want := c.effective(p, name), pristine.effective(fresh, name)
			if !o.Type.Same(got, want) {
				t.Errorf("broker %d goes by %s=%q, want %q (file %q, own %q, all %q)", id, name, got, want, p.file, p.own, c.all)
			}
		}
	}
}

// Whatever is set and wanted, the calls lead there, Kafka refuses none of them,
// and then there is nothing to do: with brokers that are away, after they came
// back, and after they were started with their new files.
func TestChangesComeToRest(t *testing.T) {
	t.Parallel()
	for seed := range uint64(1500) {
		r := rand.New(rand.NewPCG(seed, 5))
		c := newCluster(r)
		files := wantedFiles(r, c)
		for _, phase := range []string{"some away", "all there", "restarted"} {
			for id, p := range c.brokers {
				p.away = p.away && phase == "some away"
				if phase == "restarted" {
					p.file = files[id].Options
				}
			}
			rounds, held, err := c.converge(files)
			if err != nil {
				t.Fatalf("seed %d, %s: %v", seed, phase, err)
			}
			if rounds > 1 {
				t.Errorf("seed %d, %s: took %d rounds", seed, phase, rounds)
			}
			if len(held) > 0 && phase == "restarted" {
				t.Errorf("seed %d: %v waits though all processes have their files", seed, held)
			}
			c.check(t, files, held)
			if t.Failed() {
				t.Fatalf("seed %d, %s", seed, phase)
			}
		}
		c.checkClean(t, files)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// checkClean wants nothing left over once the files are in use.
func (c *cluster) checkClean(t *testing.T, files map[int32]brokerconfig.File) {
	t.Helper()
	for name := range c.all {
		_, wanted := files[3].Options[name]
		stays := wanted || option(name).Update == configdef.DynamicOnly || c.elr && name == "min.insync.replicas"
		if !stays {
			t.Errorf("%s=%s is left for all", name, c.all[name])
		}
	}
	for id, p := range c.brokers {
		for name := range p.own {
			_, wanted := files[id].Options[name]
			update := option(name).Update
			stays := wanted && update == configdef.PerBroker || update == configdef.DynamicOnly || name == brokerconfig.CordonedLogDirs
			if !stays {
				t.Errorf("broker %d is left with %s=%s", id, name, p.own[name])
			}
		}
	}
}
