package generate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/sluice-kafka/sluice/internal/configdef"
)

// join adds the options of a version to those of the versions before it. One
// that is defined alike is stored once.
func join(known []configdef.Definition, version string, options []configdef.Option) []configdef.Definition {
	for _, o := range options {
		i := slices.IndexFunc(known, func(d configdef.Definition) bool { return reflect.DeepEqual(d.Option, o) })
		if i >= 0 {
			known[i].In = append(known[i].In, version)
			continue
		}
		known = append(known, configdef.Definition{In: []string{version}, Option: o})
	}
	slices.SortStableFunc(known, func(a, b configdef.Definition) int { return cmp.Compare(a.Name, b.Name) })
	return known
}

// Encode writes a table with one definition a line, so that a difference between
// two tables can be read.
func Encode(t configdef.Table) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("{\n")
	if err := lines(&b, "releases", t.Releases); err != nil {
		return nil, err
	}
	b.WriteString(",\n")
	if err := lines(&b, "topic", t.Topic); err != nil {
		return nil, err
	}
	b.WriteString(",\n")
	if err := lines(&b, "broker", t.Broker); err != nil {
		return nil, err
	}
	b.WriteString("\n}\n")
	return b.Bytes(), nil
}

func lines[T any](b *bytes.Buffer, name string, list []T) error {
	fmt.Fprintf(b, "%q: [", name)
	for i, element := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		line, err := json.Marshal(element)
		if err != nil {
			return fmt.Errorf("encoding %s of the table of options: %w", name, err)
		}
		b.WriteByte('\n')
		b.Write(line)
	}
	b.WriteString("\n]")
	return nil
}
