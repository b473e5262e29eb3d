package configdef

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var metadataVersion = regexp.MustCompile(`^(\d{1,4}\.\d{1,4})(?:-IV(\d{1,4}))?$`)

// position of the release of a version, of any patch; -1 where it is not known.
func position(version string) int {
	minor, _, ok := splitVersion(version)
	if !ok {
		return -1
	}
	return slices.Index(load().minors, minor)
}

// splitVersion takes the patch off a version. It does without a pattern: an
// object's rules ask many times.
func splitVersion(version string) (minor string, patch int, ok bool) {
	dot := strings.LastIndexByte(version, '.')
	if dot < 0 {
		return "", 0, false
	}
	patch, ok = digits(version[dot+1:])
	return version[:dot], patch, ok
}

// digits reads a number of a version, which is nothing but a few digits.
func digits(text string) (int, bool) {
	if text == "" || len(text) > 6 {
		return 0, false
	}
	n := 0
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}

// ReleaseOf returns the release whose options a version of Kafka has: that of
// the same minor version. A patch may add an option all the same; exact tells
// that the version is none that came after the release.
func ReleaseOf(version string) (r Release, exact, ok bool) {
	i := position(version)
	if i < 0 {
		return Release{}, false, false
	}
	r = load().releases[i]
	_, patch, _ := splitVersion(version)
	_, newest, _ := splitVersion(r.Kafka)
	return r, patch <= newest, true
}

// LatestMetadataVersion is the newest metadata version of the release, which a
// new cluster gets.
func (r Release) LatestMetadataVersion() string {
	return r.MetadataVersions[len(r.MetadataVersions)-1]
}

// MetadataVersionForm tells whether a text has the form of a metadata version:
// "4.3-IV0", or "4.3" for the newest of that minor version.
func MetadataVersionForm(text string) bool {
	return metadataVersion.MatchString(text)
}

// CompareMetadataVersions orders two metadata versions of the right form. One
// without its IV part comes after all others of its minor version.
func CompareMetadataVersions(a, b string) int {
	x, y := splitMetadata(a), splitMetadata(b)
	return slices.Compare(x[:], y[:])
}

func splitMetadata(text string) [3]int {
	m := metadataVersion.FindStringSubmatch(text)
	if m == nil {
		return [3]int{}
	}
	major, minor, _ := strings.Cut(m[1], ".")
	const newest = 1 << 30
	return [3]int{number(major), number(minor), number(cmp.Or(m[2], strconv.Itoa(newest)))}
}

func number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0 // the pattern lets nothing else through
	}
	return n
}

// RunsAt tells whether the release knows a metadata version. One without its IV
// part stands for the newest of its minor version, as in Kafka's
// MetadataVersion.fromVersionString.
func (r Release) RunsAt(version string) bool {
	return slices.ContainsFunc(r.MetadataVersions, func(v string) bool {
		minor, _, _ := strings.Cut(v, "-")
		return v == version || minor == version
	})
}

// MetadataLevel returns the feature level of a metadata version, which Kafka's
// requests speak of: 30 for "4.3-IV0". One without its IV part stands for the
// newest of its minor version.
func MetadataLevel(version string) (int16, bool) {
	releases := load().releases
	newest := releases[len(releases)-1]
	for i, v := range slices.Backward(newest.MetadataVersions) {
		if minor, _, _ := strings.Cut(v, "-"); v == version || minor == version {
			return newest.OldestLevel + int16(i), true
		}
	}
	return 0, false
}

// MetadataVersionAt is the opposite of MetadataLevel: it names the metadata
// version of a feature level.
func MetadataVersionAt(level int16) (string, bool) {
	releases := load().releases
	newest := releases[len(releases)-1]
	i := int(level) - int(newest.OldestLevel)
	if i < 0 || i >= len(newest.MetadataVersions) {
		return "", false
	}
	return newest.MetadataVersions[i], true
}
