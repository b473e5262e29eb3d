package nodepool_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/sluice-kafka/sluice/internal/nodepool"
)

func ids(t testing.TB, text string) nodepool.IDs {
	t.Helper()
	list, err := nodepool.ParseIDs(text)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestParseIDs(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text string
		want []int32
		bad  string
	}{
		"nothing":              {text: ""},
		"blanks":               {text: "  "},
		"an empty list":        {text: "[ ]"},
		"one":                  {text: "[7]", want: []int32{7}},
		"several and a range":  {text: " [0, 1,10 - 12] ", want: []int32{0, 1, 10, 11, 12}},
		"a range downwards":    {text: "[60-58, 3]", want: []int32{60, 59, 58, 3}},
		"a range of one":       {text: "[5-5]", want: []int32{5}},
		"twice the same":       {text: "[1,1]", want: []int32{1, 1}},
		"the largest":          {text: "[2147483647]", want: []int32{2147483647}},
		"up to the largest":    {text: "[2147483646-2147483647]", want: []int32{2147483646, 2147483647}},
		"no brackets":          {text: "0, 1", bad: "brackets"},
		"half a bracket":       {text: "[0, 1", bad: "brackets"},
		"a word":               {text: "[0, 1, ten]", bad: `"ten"`},
		"a negative one":       {text: "[-1]", bad: `"-1"`},
		"a missing item":       {text: "[0,,1]", bad: `""`},
		"a comma at the end":   {text: "[0,]", bad: `""`},
		"a range of three":     {text: "[1-2-3]", bad: `"1-2-3"`},
		"two without a comma":  {text: "[1 2]", bad: `"1 2"`},
		"a list in a list":     {text: "[[1]]", bad: `"[1]"`},
		"too large":            {text: "[2147483648]", bad: "largest node ID"},
		"far too large":        {text: "[0-99999999999999999999]", bad: "largest node ID"},
		"very many items":      {text: "[" + strings.Repeat("1,", 1000) + "1]", bad: "more than 1000"},
		"a very long bad item": {text: "[" + strings.Repeat("x", 1000) + "]", bad: "…"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list, err := nodepool.ParseIDs(tc.text)
			if tc.bad != "" {
				if !errors.Is(err, nodepool.ErrIDs) || !strings.Contains(err.Error(), tc.bad) {
					t.Errorf("got error %v, want ErrIDs with %s", err, tc.bad)
				}
				return
			}
			if got := slices.Collect(list.All()); err != nil || !slices.Equal(got, tc.want) {
				t.Errorf("got %v, %v, want %v", got, err, tc.want)
			}
			if list.Empty() != (len(tc.want) == 0) {
				t.Errorf("empty: %v", list.Empty())
			}
			for _, id := range tc.want {
				if !list.Contains(id) {
					t.Errorf("lacks %d", id)
				}
			}
			if list.Contains(1_000) {
				t.Error("holds what is not listed")
			}
		})
	}
}

func TestParseCordon(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]int32{
		"": nil, "3,4": {3, 4}, " 3 , 4 ": {3, 4}, "[3, 4-6]": {3, 4, 5, 6}, "7": {7}, "[]": nil,
	} {
		list, err := nodepool.ParseCordon(text)
		if got := slices.Collect(list.All()); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: got %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"3, four", ",", "3;4", "3,4]", "*", "3.5"} {
		if _, err := nodepool.ParseCordon(text); !errors.Is(err, nodepool.ErrIDs) {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

func TestWithout(t *testing.T) {
	t.Parallel()
	got := ids(t, "[0-2147483647, 1]").Without(map[int32]bool{0: true, 2: true}, 3)
	if !slices.Equal(got, []int32{1, 3, 4}) {
		t.Errorf("got %v", got)
	}
	if got := ids(t, "[1, 1, 2]").Without(nil, 9); !slices.Equal(got, []int32{1, 2}) {
		t.Errorf("got %v", got)
	}
}

func FuzzParseIDs(f *testing.F) {
	for _, s := range []string{"", "[]", "[0, 1, 10-20]", "[60-50]", "3,4", "[0-2147483647]", "[1-2-3]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, parse := range []func(string) (nodepool.IDs, error){nodepool.ParseIDs, nodepool.ParseCordon} {
			list, err := parse(text)
			if err != nil {
				if !errors.Is(err, nodepool.ErrIDs) || len(err.Error()) > 500 {
					t.Errorf("%q: %v", text, err)
				}
				continue
			}
			for _, id := range list.Without(nil, 10) {
				if id < 0 || !list.Contains(id) {
					t.Errorf("%q: yields %d", text, id)
				}
			}
		}
	})
}
