package configdef

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// Faults of a value in spec.config.
var (
	// ErrNullValue marks a null, which says neither a value nor its absence.
	ErrNullValue = errors.New("null is no value: remove the line to get the cluster's default")
	// ErrNestedValue marks a map, or a list of something other than scalars.
	ErrNestedValue = errors.New("an option takes a string, a number, a boolean or a list of these")
	// ErrValueSyntax marks what is no JSON value.
	ErrValueSyntax = errors.New("not a JSON value")
	// ErrNumberRange marks a number that would take more than maxDigits digits.
	ErrNumberRange = errors.New("the number has too many digits")
)

// MaxTextBytes is how many bytes a text in a request may have, such as a name or a
// value. On a longer one Kafka closes the connection (its generated messages refuse it:
// MessageDataGenerator), and with it goes what the request asks for all other topics.
const MaxTextBytes = math.MaxInt16

// maxDigits is more than any double needs when written out.
const maxDigits = 400

// RenderValue writes a JSON value as Kafka takes it: numbers and booleans
// without quotes or exponent, lists joined by commas.
func RenderValue(raw []byte) (string, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return "", ErrNullValue
	}
	if plain, ok := plainValue(raw); ok {
		return plain, nil
	}
	return decodeValue(raw)
}

func decodeValue(raw []byte) (string, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return "", fmt.Errorf("%w: %w", ErrValueSyntax, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return "", ErrValueSyntax
	}
	list, ok := v.([]any)
	if !ok {
		return renderScalar(v)
	}
	parts := make([]string, 0, len(list))
	for _, e := range list {
		s, err := renderScalar(e)
		if err != nil {
			// A null within a list is a nested fault, not a missing value.
			return "", ErrNestedValue
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, ","), nil
}

// plainValue reads what nearly all values are, without the cost of a decoder: a
// whole number, a boolean, or a string of printable ASCII with nothing escaped.
// It answers false for anything else, good or bad.
func plainValue(raw []byte) (string, bool) {
	text := string(raw)
	if text == "true" || text == "false" || isPlainNumber(strings.TrimPrefix(text, "-")) {
		return text, true
	}
	inner, ok := strings.CutPrefix(text, `"`)
	if !ok {
		return "", false
	}
	inner, ok = strings.CutSuffix(inner, `"`)
	return inner, ok && isPlainText(inner)
}

// isPlainNumber tells of digits without the leading zeros that JSON does not know.
func isPlainNumber(text string) bool {
	return text == "0" || text != "" && text[0] != '0' && !strings.ContainsFunc(text, func(r rune) bool { return r < '0' || r > '9' })
}

func isPlainText(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' })
}

func renderScalar(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", ErrNullValue
	case string:
		return v, nil
	case bool:
		return strconv.FormatBool(v), nil
	case json.Number:
		return plainNumber(v.String())
	default:
		return "", ErrNestedValue
	}
}

// plainNumber writes a JSON number without an exponent and otherwise as it
// stands: Kafka's integers know no exponent.
func plainNumber(n string) (string, error) {
	mantissa, exponent, ok := strings.Cut(strings.ToLower(n), "e")
	if !ok {
		return n, nil
	}
	exp, err := strconv.Atoi(exponent)
	if err != nil || exp > maxDigits || exp < -maxDigits || len(mantissa) > maxDigits {
		return "", ErrNumberRange
	}
	sign := ""
	if strings.HasPrefix(mantissa, "-") {
		sign, mantissa = "-", mantissa[1:]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits, point := whole+fraction, len(whole)+exp
	if point <= 0 {
		digits, point = strings.Repeat("0", 1-point)+digits, 1
	}
	if point > len(digits) {
		digits += strings.Repeat("0", point-len(digits))
	}
	whole = strings.TrimLeft(digits[:point], "0")
	if whole == "" {
		whole = "0"
	}
	fraction = strings.TrimRight(digits[point:], "0")
	if fraction == "" {
		return sign + whole, nil
	}
	return sign + whole + "." + fraction, nil
}
