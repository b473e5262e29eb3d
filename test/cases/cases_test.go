package cases

import "testing"

// A check that cannot fail would make all of the cases worthless.
func TestMissed(t *testing.T) {
	t.Parallel()
	said := []Said{{Path: "spec.a[0].name", Text: "spec.a[0].name: because"}}
	for name, tc := range map[string]struct {
		c                  Case
		refusals, warnings []Said
		want               bool
	}{
		"allowed in silence":           {Case{Expect: Allow}, nil, nil, false},
		"allowed with a warning":       {Case{Expect: Allow}, nil, said, true},
		"not allowed":                  {Case{Expect: Allow}, said, nil, true},
		"warned":                       {Case{Expect: Warn, Path: "spec.a[0]", Text: "because"}, nil, said, false},
		"warned of something else":     {Case{Expect: Warn, Path: "spec.b"}, nil, said, true},
		"not warned":                   {Case{Expect: Warn}, nil, nil, true},
		"warned and refused":           {Case{Expect: Warn}, said, said, true},
		"refused":                      {Case{Expect: Refuse, Path: "a[0].name", Text: "because"}, said, nil, false},
		"refused for another reason":   {Case{Expect: Refuse, Text: "otherwise"}, said, nil, true},
		"refused at another path":      {Case{Expect: Refuse, Path: "spec.b"}, said, nil, true},
		"only warned":                  {Case{Expect: Refuse}, nil, said, true},
		"path and text of two answers": {Case{Expect: Refuse, Path: "spec.a", Text: "x"}, append(said, Said{Path: "spec.b", Text: "x"}), nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := tc.c.Missed(tc.refusals, tc.warnings); (got != "") != tc.want {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	c, err := parse("x", []byte("# expect: warn\n# at: spec.a\n# with: b\na: 1\n---\nb: 2\n---\nc: 3\n"))
	if err != nil {
		t.Fatal(err)
	}
	if c.Expect != Warn || c.Path != "spec.a" || c.Text != "b" || len(c.Existing) != 2 || string(c.Object) != "\nc: 3\n" || c.Before != nil {
		t.Errorf("got %+v", c)
	}
	c, err = parse("x", []byte("# expect: allow\n# before\na: 1\n---\n# after\na: 2\n"))
	if err != nil || len(c.Existing) != 0 || c.Before == nil || c.Object == nil {
		t.Errorf("got %+v, %v", c, err)
	}
	for name, text := range map[string]string{"no answer": "a: 1\n", "an unknown answer": "# expect: maybe\na: 1\n"} {
		if _, err := parse(name, []byte(text)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
