package observed_test

import (
	"errors"
	"testing"

	"github.com/sluice-kafka/sluice/internal/observed"
)

func TestCordonedBrokers(t *testing.T) {
	t.Parallel()
	type dirs = []observed.LogDir
	cordoned, open, offline := observed.LogDir{Cordoned: true}, observed.LogDir{}, observed.LogDir{Offline: true}
	synonym := func(source observed.ConfigSource, value string) observed.ConfigSynonym {
		return observed.ConfigSynonym{Name: observed.CordonedLogDirs, Value: value, Source: source}
	}
	entry := func(synonyms ...observed.ConfigSynonym) observed.Of[observed.Config] {
		return observed.Seen(observed.Config{observed.CordonedLogDirs: {Value: synonyms[0].Value, Synonyms: synonyms}})
	}
	dynamic, static := synonym(observed.SourceBroker, "*"), synonym(observed.SourceStatic, "*")
	for name, tc := range map[string]struct {
		dirs       observed.Of[[]observed.LogDir]
		config     observed.Of[observed.Config]
		level      int16
		yes, known bool
	}{
		"all directories are":                          {dirs: observed.Seen(dirs{cordoned, cordoned}), level: 30, yes: true, known: true},
		"one is":                                       {dirs: observed.Seen(dirs{cordoned, open}), level: 30, known: true},
		"one is not, and is offline":                   {dirs: observed.Seen(dirs{offline, cordoned}), level: 30, yes: true, known: true},
		"no directory is online":                       {dirs: observed.Seen(dirs{offline}), level: 30},
		"the broker did not answer":                    {dirs: observed.Unseen[[]observed.LogDir](errors.New("away")), config: entry(static), level: 30},
		"set, and not reported yet":                    {dirs: observed.Seen(dirs{open}), config: entry(dynamic), level: 30, known: true},
		"read from the file, and not reported":         {dirs: observed.Seen(dirs{open}), config: entry(static), level: 30, yes: true, known: true},
		"set and read from the file, and not reported": {dirs: observed.Seen(dirs{open}), config: entry(dynamic, static), level: 30, yes: true, known: true},
		"read from the file and overridden":            {dirs: observed.Seen(dirs{open}), config: entry(synonym(observed.SourceBroker, ""), static), level: 30, known: true},
		"a part of it read from the file":              {dirs: observed.Seen(dirs{open}), config: entry(synonym(observed.SourceStatic, "/a")), level: 30, known: true},
		"read from the file below the level":           {dirs: observed.Seen(dirs{open}), config: entry(static), level: 29, known: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := observed.Cluster{
				Features: observed.Seen(observed.Features{MetadataLevel: tc.level}),
				LogDirs:  map[int32]observed.Of[[]observed.LogDir]{7: tc.dirs},
				Configs:  map[int32]observed.Of[observed.Config]{7: tc.config},
			}
			if yes, known := c.Cordoned(7); yes != tc.yes || known != tc.known {
				t.Errorf("%t, %t", yes, known)
			}
		})
	}
}
