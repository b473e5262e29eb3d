package configdef

import "testing"

func TestSame(t *testing.T) {
	for name, test := range map[string]struct {
		kind Type
		a, b string
		want bool
	}{
		"booleans in another case":         {Boolean, "TRUE", "true", true},
		"booleans that differ":             {Boolean, "true", "false", false},
		"integers with leading zeros":      {Long, " 0100 ", "100", true},
		"integers that differ":             {Long, "100", "101", false},
		"an integer that Kafka refuses":    {Long, "1e2", "100", false},
		"doubles with trailing zeros":      {Double, "0.50", "0.5", true},
		"doubles written differently":      {Double, "1e-1", "0.1", true},
		"doubles that differ":              {Double, "0.5", "0.6", false},
		"lists with blanks":                {List, "compact, delete", "compact,delete", true},
		"lists in another order":           {List, "delete,compact", "compact,delete", false},
		"an empty list and one of nothing": {List, "", "a", false},
		"texts with blanks around":         {String, " zstd", "zstd ", true},
		"texts in another case":            {String, "Zstd", "zstd", false},
		"texts that look like numbers":     {String, "0100", "100", false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := test.kind.Same(test.a, test.b); got != test.want {
				t.Errorf("%q and %q: %v, want %v", test.a, test.b, got, test.want)
			}
			if got := test.kind.Same(test.b, test.a); got != test.want {
				t.Errorf("not symmetric")
			}
		})
	}
}
