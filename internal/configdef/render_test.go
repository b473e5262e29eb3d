package configdef

import (
	"errors"
	"math/big"
	"testing"
)

func TestRenderValue(t *testing.T) {
	for name, test := range map[string]struct {
		json    string
		want    string
		wantErr error
	}{
		"a string as it stands":                  {json: `" 0100 "`, want: " 0100 "},
		"an integer":                             {json: `604800000`, want: "604800000"},
		"a negative integer":                     {json: `-1`, want: "-1"},
		"an integer with an exponent":            {json: `6.048e8`, want: "604800000"},
		"a capital exponent with a sign":         {json: `1E+3`, want: "1000"},
		"an exponent that leaves a fraction":     {json: `1.2345e2`, want: "123.45"},
		"a negative exponent":                    {json: `-5e-3`, want: "-0.005"},
		"an exponent of zero":                    {json: `0e5`, want: "0"},
		"a fraction":                             {json: `0.50`, want: "0.50"},
		"a boolean":                              {json: `true`, want: "true"},
		"a list":                                 {json: `["compact", "delete"]`, want: "compact,delete"},
		"a list of different scalars":            {json: `["a", 1e1, false]`, want: "a,10,false"},
		"an empty list":                          {json: `[]`, want: ""},
		"an empty string":                        {json: `""`, want: ""},
		"a null":                                 {json: `null`, wantErr: ErrNullValue},
		"a null that the API decoded":            {json: ``, wantErr: ErrNullValue},
		"a map":                                  {json: `{"a": 1}`, wantErr: ErrNestedValue},
		"a nested list":                          {json: `[["a"]]`, wantErr: ErrNestedValue},
		"a null within a list":                   {json: `[null]`, wantErr: ErrNestedValue},
		"what is no JSON":                        {json: `{`, wantErr: ErrValueSyntax},
		"two values":                             {json: `1 2`, wantErr: ErrValueSyntax},
		"a number that would fill the memory":    {json: `1e999999999`, wantErr: ErrNumberRange},
		"a number beyond any integer's exponent": {json: `1e99999999999999999999`, wantErr: ErrNumberRange},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := RenderValue([]byte(test.json))
			if !errors.Is(err, test.wantErr) || (err != nil) != (test.wantErr != nil) {
				t.Fatalf("error: %v, want %v", err, test.wantErr)
			}
			if got != test.want {
				t.Errorf("rendered %q, want %q", got, test.want)
			}
		})
	}
}

// FuzzPlainValue holds the short way to what the decoder says.
func FuzzPlainValue(f *testing.F) {
	for _, seed := range []string{`0`, `-1`, `00`, `-`, `-00`, `1.5`, `1e3`, `true`, `false`, `null`, `""`, `"a"`, `"a\"`, `"\u0041"`, `"ä"`, `"a"b"`, ` 1`, `1 `, `"`, `["a"]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, ok := plainValue(raw)
		if !ok {
			return
		}
		if want, err := decodeValue(raw); err != nil || got != want {
			t.Errorf("%q became %q, the decoder says %q (%v)", raw, got, want, err)
		}
	})
}

func BenchmarkRenderValue(b *testing.B) {
	for name, raw := range map[string]string{"plain": `604800000`, "decoded": `["compact", "delete"]`} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := RenderValue([]byte(raw)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// FuzzPlainNumber holds numbers to what they say: the same value, no exponent.
func FuzzPlainNumber(f *testing.F) {
	for _, seed := range []string{"1", "-0.5e3", "1e-7", "12.340E+2", "0e0", "9e99"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, number string) {
		got, err := RenderValue([]byte(number))
		if err != nil {
			return
		}
		var want, have big.Rat
		if _, ok := want.SetString(number); !ok {
			return // not a number
		}
		if _, ok := have.SetString(got); !ok || want.Cmp(&have) != 0 {
			t.Errorf("%q became %q", number, got)
		}
	})
}
