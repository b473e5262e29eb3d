// Command rulesdoc writes docs/rules.md from the catalogue of rules. What it
// says of an example is what the rules really say of it.
//
// Usage: rulesdoc FILE
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/sluice-kafka/sluice/internal/offline"
	"github.com/sluice-kafka/sluice/internal/validation"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: rulesdoc FILE")
		os.Exit(2)
	}
	if err := run(context.Background(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "rulesdoc:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, file string) error {
	page, err := render(ctx, validation.Catalogue())
	if err != nil {
		return err
	}
	return os.WriteFile(file, page, 0o644)
}

const intro = `<!-- Written by make generate from internal/validation; do not edit. -->

# Rules

What admission refuses or warns of, and [` + "`sluice validate`" + `](validate.md) before it.
Each rule stands here with an example, what is said of it, and what to write instead.
In the examples ` + "`apiVersion: kafka.strimzi.io/v1`" + ` is left out, and so are a name and
the label ` + "`strimzi.io/cluster: my-cluster`" + ` where they do not matter.

- **refuse**: the request fails, and nothing is stored. On an update only what the
  update itself brings about is refused: an object that was faulty before can still be
  changed otherwise.
- **warn**: the request succeeds, and ` + "`kubectl`" + ` prints the warning.
- **warn, strict: refuse**: with ` + "`--strict-config`" + ` it is refused.
- **joining**: needs two objects, which may arrive in any order. It refuses only once
  the Kafka is Ready at its generation; before that it warns. ` + "`sluice validate`" + ` refuses
  where the files hold both.

`

func render(ctx context.Context, rules []validation.About) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(intro)
	b.WriteString("| rule | kinds | verdict | what is wrong |\n| --- | --- | --- | --- |\n")
	for _, a := range rules {
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s | %s | %s |\n", a.Rule, a.Rule, strings.Join(a.Kinds, ", "), verdict(a), a.Summary)
	}
	for _, a := range rules {
		said, err := judge(ctx, a, a.Example)
		if err != nil {
			return nil, fmt.Errorf("judging the example of rule %s: %w", a.Rule, err)
		}
		section(&b, a, said)
	}
	return b.Bytes(), nil
}

func verdict(a validation.About) string {
	v := "warn"
	switch {
	case a.Severity == validation.Refuse:
		v = "refuse"
	case a.Strict:
		v = "warn, strict: refuse"
	}
	if a.Joining {
		v += ", joining"
	}
	return v
}

func section(b *bytes.Buffer, a validation.About, said []offline.Message) {
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n", a.Rule, a.Summary)
	fmt.Fprintf(b, "Kinds: %s. Verdict: %s.\n", strings.Join(a.Kinds, ", "), verdict(a))
	block(b, "Beside", a.Beside)
	block(b, "It was", a.Before)
	what := map[bool]string{true: "Refused", false: "Warned of"}[a.Severity == validation.Refuse]
	if a.Deleted {
		what += " when deleted"
	}
	block(b, what, a.Example)
	for _, m := range said {
		if m.Rule == a.Rule {
			fmt.Fprintf(b, "\n```text\n%s: %s: %s\n```\n", m.Severity, m.Path, m.Text)
		}
	}
	block(b, "Instead", a.Mended)
}

func block(b *bytes.Buffer, title, text string) {
	if text = strings.TrimSpace(text); text != "" {
		fmt.Fprintf(b, "\n%s:\n\n```yaml\n%s\n```\n", title, text)
	}
}
