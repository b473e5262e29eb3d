package configdef

import "testing"

func TestReleaseOf(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		version, want string
		exact         bool
	}{
		"the release itself":              {"4.2.2", "4.2.2", true},
		"an earlier patch":                {"4.2.0", "4.2.2", true},
		"a later patch may have more":     {"4.2.3", "4.2.2", false},
		"two digits in a patch":           {"4.2.10", "4.2.2", false},
		"an unknown minor version":        {"4.9.0", "", false},
		"a vendor's version":              {"4.2.2.redhat-00001", "", false},
		"a version with blanks":           {" 4.2.2", "", false},
		"a number too large for any type": {"99999999999999999999.0.0", "", false},
		"no version":                      {"", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, exact, ok := ReleaseOf(tc.version)
			if r.Kafka != tc.want || exact != tc.exact || ok != (tc.want != "") {
				t.Errorf("got %q, exact %v, ok %v", r.Kafka, exact, ok)
			}
		})
	}
}

func TestMetadataVersions(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text string
		want bool
	}{
		"minor version and number":   {"4.3-IV0", true},
		"minor version alone":        {"4.3", true},
		"a patch":                    {"4.3.1", false},
		"small letters":              {"4.3-iv0", false},
		"no number":                  {"4.3-IV", false},
		"a feature level":            {"30", false},
		"blanks":                     {"4.3 ", false},
		"a line of its own after it": {"4.3\n", false},
		"nothing":                    {"", false},
	} {
		if got := MetadataVersionForm(tc.text); got != tc.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
	ordered := []string{"3.9-IV0", "4.2-IV0", "4.2-IV1", "4.2", "4.3-IV0", "4.10-IV0"}
	for i := range ordered {
		for j := range ordered {
			if got := CompareMetadataVersions(ordered[i], ordered[j]); (got < 0) != (i < j) || (got > 0) != (i > j) {
				t.Errorf("%s against %s: %d", ordered[i], ordered[j], got)
			}
		}
	}
	r, _, _ := ReleaseOf("4.3.1")
	if r.LatestMetadataVersion() != "4.3-IV0" {
		t.Errorf("latest is %s", r.LatestMetadataVersion())
	}
	for version, want := range map[string]bool{"4.3-IV0": true, "4.3": true, "3.7-IV4": true, "4.3-IV1": false, "4.4-IV0": false, "4.4": false, "3.2": false, "4": false} {
		if got := r.RunsAt(version); got != want {
			t.Errorf("4.3.1 runs at %s: %v", version, got)
		}
	}
}

func TestMetadataLevels(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		version string
		want    int16
	}{
		"the oldest":                          {"3.3-IV3", 7},
		"one of many":                         {"4.2-IV1", 29},
		"the first that knows cordoning":      {"4.3-IV0", 30},
		"the newest of a minor version":       {"4.2", 29},
		"a number that a minor version lacks": {"4.2-IV9", 0},
		"an unknown minor version":            {"9.9-IV0", 0},
		"nothing":                             {"", 0},
	} {
		got, ok := MetadataLevel(tc.version)
		if got != tc.want || ok != (tc.want != 0) {
			t.Errorf("%s: %q is at %d, %v", name, tc.version, got, ok)
		}
	}
	for _, version := range Versions() {
		release, _, _ := ReleaseOf(version)
		for i, v := range release.MetadataVersions {
			level, _ := MetadataLevel(v)
			if name, ok := MetadataVersionAt(level); name != v || !ok || level != release.OldestLevel+int16(i) {
				t.Errorf("%s of %s is at %d, which is called %q", v, version, level, name)
			}
		}
	}
	for _, level := range []int16{-1, 0, 6, 99, 32767} {
		if name, ok := MetadataVersionAt(level); ok {
			t.Errorf("level %d is called %s", level, name)
		}
	}
}
