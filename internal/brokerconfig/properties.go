package brokerconfig

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf16"
)

// Text is the file as java.util.Properties reads it, sorted by option. Kafka
// reads its file as ISO 8859-1 (Utils.loadProps), so that all beyond ASCII is
// escaped. The libraries that write such files lose what is beyond 16 bits.
func (f File) Text() string {
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(f.Options)) {
		escape(&text, name, " =:#!")
		text.WriteByte('=')
		// Blanks before a value are skipped, and nothing else in it is special.
		value := f.Options[name]
		blanks := len(value) - len(strings.TrimLeft(value, " "))
		escape(&text, value[:blanks], " ")
		escape(&text, value[blanks:], "")
		text.WriteByte('\n')
	}
	return text.String()
}

// escape writes a text so that java.util.Properties.load reads the same; special
// are the characters that need a backslash where the text stands.
func escape(out *strings.Builder, text, special string) {
	for _, r := range text {
		switch {
		case r == '\\' || strings.ContainsRune(special, r):
			out.WriteByte('\\')
			out.WriteRune(r)
		case ' ' <= r && r <= '~':
			out.WriteRune(r)
		default:
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(out, `\u%04x`, unit)
			}
		}
	}
}
