package validation

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func warnings(n int) []Finding {
	var found []Finding
	for i := range n {
		found = append(found, Finding{Rule: "r", Path: field.NewPath("spec", "list").Index(i), Value: "v", Message: "why"})
	}
	return found
}

func TestWarningTexts(t *testing.T) {
	t.Parallel()
	long := field.NewPath("spec", "config").Key(strings.Repeat("k", 500))
	for name, tc := range map[string]struct {
		found []Finding
		want  int
		last  string // is part of the last
	}{
		"none":                             {nil, 0, ""},
		"ten are shown":                    {warnings(10), 10, "spec.list[9]: why"},
		"the tenth of eleven tells of two": {warnings(11), 10, "spec.list[9]: 2 more warnings, at spec.list[9], spec.list[10]"},
		"of very many":                     {warnings(5000), 10, "4991 more warnings"},
		"a long path":                      {[]Finding{{Path: long, Message: "the reason"}}, 1, "the reason"},
		"a long message":                   {[]Finding{{Path: field.NewPath("spec"), Message: strings.Repeat("ä", 500)}}, 1, "spec: ää"},
		"control characters":               {[]Finding{{Path: field.NewPath("spec").Key("a\nb\x00"), Message: "x\ry"}}, 1, `spec[a\nb\x00]: x\ry`},
		"no UTF-8":                         {[]Finding{{Path: field.NewPath("spec").Key("\xff"), Message: "m"}}, 1, `spec[`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newResult(tc.found)
			texts := r.WarningTexts()
			if len(texts) != tc.want {
				t.Fatalf("got %d warnings, want %d: %q", len(texts), tc.want, texts)
			}
			for i, text := range texts {
				if n := utf8.RuneCountInString(text); n > 256 {
					t.Errorf("warning %d has %d characters", i, n)
				}
				if !strings.HasPrefix(text, "spec") {
					t.Errorf("warning %d does not begin with its path: %s", i, text)
				}
				if _, err := net.NewWarningHeader(299, "", text); err != nil {
					t.Errorf("warning %d would be dropped: %v", i, err)
				}
			}
			if len(texts) > 0 && !strings.Contains(texts[len(texts)-1], tc.last) {
				t.Errorf("the last warning is %q, which lacks %q", texts[len(texts)-1], tc.last)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	var found []Finding
	for i := range 150 {
		found = append(found, Finding{Severity: Refuse, Path: field.NewPath("spec", "list").Index(i), Value: strings.Repeat("v", 1000), Message: "why"})
	}
	slices.Reverse(found)
	errs := newResult(found).Errors()
	if len(errs) != maxRefusals+1 {
		t.Fatalf("got %d errors, want %d and one that counts the rest", len(errs), maxRefusals)
	}
	if got := errs[2].Field; got != "spec.list[2]" {
		t.Errorf("errors are not in natural order: the third is at %s", got)
	}
	if got := errs[maxRefusals].Detail; !strings.Contains(got, "50 more") {
		t.Errorf("the last error does not count the rest: %s", got)
	}
	if n := len(errs[0].Error()); n > 500 {
		t.Errorf("an error repeats a long value whole: %d characters", n)
	}
	huge := newResult([]Finding{{Severity: Refuse, Path: field.NewPath("spec").Key(strings.Repeat("k", 1<<20)), Value: "v", Message: "why"}}).Errors()
	if n := len(huge.ToAggregate().Error()); n > 500 {
		t.Errorf("an error repeats a long path whole: %d characters", n)
	}
	missing := newResult([]Finding{{Severity: Refuse, Path: field.NewPath("spec", "x"), Message: "give it"}}).Errors()
	if got, want := missing.ToAggregate().Error(), "spec.x: Required value: give it"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRefusalSilencesWarningOfTheSamePath(t *testing.T) {
	t.Parallel()
	at := field.NewPath("spec", "a")
	r := newResult([]Finding{{Path: at, Message: "w"}, {Severity: Refuse, Path: at, Message: "r"}, {Path: at.Child("b"), Message: "w"}})
	if len(r.Refusals) != 1 || len(r.Warnings) != 1 || r.Warnings[0].Path.String() != "spec.a.b" {
		t.Errorf("got %+v", r)
	}
}

func TestIntroduced(t *testing.T) {
	t.Parallel()
	f := func(rule, element, value string, s Severity) Finding {
		return Finding{Rule: rule, Element: element, Value: value, Severity: s}
	}
	for name, tc := range map[string]struct {
		now, before []Finding
		want        int
	}{
		"the same fault at another index": {[]Finding{{Rule: "r", Element: "e", Value: "v", Path: field.NewPath("a").Index(1)}}, []Finding{{Rule: "r", Element: "e", Value: "v", Path: field.NewPath("a").Index(0)}}, 0},
		"another value":                   {[]Finding{f("r", "e", "w", Refuse)}, []Finding{f("r", "e", "v", Refuse)}, 1},
		"another element":                 {[]Finding{f("r", "d", "v", Refuse)}, []Finding{f("r", "e", "v", Refuse)}, 1},
		"another rule":                    {[]Finding{f("q", "e", "v", Refuse)}, []Finding{f("r", "e", "v", Refuse)}, 1},
		"a warning that became a refusal": {[]Finding{f("r", "e", "v", Refuse)}, []Finding{f("r", "e", "v", Warn)}, 1},
		"one more of equal ones":          {[]Finding{f("r", "e", "v", Refuse), f("r", "e", "v", Refuse)}, []Finding{f("r", "e", "v", Refuse)}, 1},
		"one fewer":                       {[]Finding{f("r", "e", "v", Refuse)}, []Finding{f("r", "e", "v", Refuse), f("r", "e", "v", Refuse)}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := introduced(tc.now, tc.before); len(got) != tc.want {
				t.Errorf("got %v, want %d", got, tc.want)
			}
		})
	}
}

func TestCompareNatural(t *testing.T) {
	t.Parallel()
	sorted := []string{"", "a", "a[2]", "a[02]", "a[10]", "a[10].b", "a[10].c", "a[18446744073709551616]", "b"}
	for i, a := range sorted {
		for j, b := range sorted {
			if got, want := sign(compareNatural(a, b)), sign(i-j); got != want {
				t.Errorf("compareNatural(%q, %q) is %d, want %d", a, b, got, want)
			}
		}
	}
}

func sign(n int) int {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}

func TestRuleNamesAreUnique(t *testing.T) {
	t.Parallel()
	chains := map[string][]string{
		"topic": names(topicRules),
		"kafka": append(append(names(kafkaRules), names(podRules)...), names(joinKafkaRules)...),
		"pool":  append(append(names(poolRules), names(podRules)...), names(joinPoolRules)...),
	}
	for kind, all := range chains {
		slices.Sort(all)
		if compact := slices.Compact(slices.Clone(all)); len(compact) != len(all) {
			t.Errorf("two rules of %s have one name, and would hide each other's faults: %v", kind, all)
		}
	}
}

func names[I any](chain []rule[I]) []string {
	var list []string
	for _, r := range chain {
		list = append(list, r.name)
	}
	return list
}
