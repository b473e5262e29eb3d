package options

import (
	"errors"
	"strings"
)

// parseJAAS reads the options of the one login module in a Kafka client's
// sasl.jaas.config: class, control flag, options as name=value, a semicolon (KIP-85;
// JaasConfig reads it with a StreamTokenizer). Errors quote nothing of it.
func parseJAAS(text string) (map[string]string, error) {
	const form = `must be of the form "CLASS required name=\"value\" ...;"`
	words, err := jaasWords(text)
	if err != nil {
		return nil, err
	}
	if len(words) < 3 || words[len(words)-1] != ";" {
		return nil, errors.New(form)
	}
	options := map[string]string{}
	rest := words[2 : len(words)-1]
	for ; len(rest) > 0; rest = rest[3:] {
		if len(rest) < 3 || rest[1] != "=" || rest[0] == ";" || rest[2] == ";" {
			return nil, errors.New(form)
		}
		options[rest[0]] = strings.TrimPrefix(rest[2], quoted)
	}
	return options, nil
}

// quoted begins a word that was in quotes, which is not a sign then.
const quoted = "\x00"

// jaasWords splits a text at blanks, and at the signs = and ; outside of quotes.
func jaasWords(text string) ([]string, error) {
	var words []string
	for {
		text = strings.TrimLeft(text, " \t\r\n")
		if text == "" {
			return words, nil
		}
		switch c := text[0]; c {
		case '=', ';':
			words, text = append(words, text[:1]), text[1:]
		case '"', '\'':
			word, rest, ok := unquoteJAAS(text[1:], c)
			if !ok {
				return nil, errors.New("has a quote that does not end")
			}
			words, text = append(words, quoted+word), rest
		default:
			end := strings.IndexAny(text, " \t\r\n=;\"'")
			if end < 0 {
				end = len(text)
			}
			words, text = append(words, text[:end]), text[end:]
		}
	}
}

// unquoteJAAS reads up to the closing quote; a backslash stands before a sign that
// is meant as such, or for the signs that Java has.
func unquoteJAAS(text string, quote byte) (word, rest string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == quote:
			return b.String(), text[i+1:], true
		case c == '\\' && i+1 < len(text):
			i++
			if escaped := strings.IndexByte("ntr", text[i]); escaped >= 0 {
				b.WriteByte("\n\t\r"[escaped])
			} else {
				b.WriteByte(text[i])
			}
		default:
			b.WriteByte(c)
		}
	}
	return "", "", false
}
