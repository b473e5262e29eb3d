package brokerconfig_test

import (
	"bufio"
	"errors"
	"maps"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/sluice-kafka/sluice/internal/brokerconfig"
)

// FuzzRender gives keys and values of any kind. The file has to say exactly what
// the options are, nothing of the operator's may come from the user, and whoever
// runs with the file has nothing to change.
func FuzzRender(f *testing.F) {
	for _, seed := range [][2]string{
		{"num.partitions", "3"}, {"a", `"x\ny"`}, {" cordoned.log.dirs\t", `"*"`}, {"k=:#! \\", `" #v\\ "`}, {"log.dirs\n", `["/a","/b"]`},
		{"LISTENERS", `"x"`}, {"listener.name.plain-9092.max.connections", `1e3`}, {"u\u00fc\U0001F30A", `"\ud83c\udf0a\u0000"`},
		{"log.retention.ms", `{}`}, {"", `null`}, {"node.id=7\nprocess.roles", `"x\nnode.id=8"`}, {"k", `"\\uD800"`},
		{"listener.name..", `"a"`}, {"num.io.threads", `"99999999999999999999"`}, {"log.retention.hours", `"9223372036854775807"`},
	} {
		f.Add(seed[0], []byte(seed[1]), false)
		f.Add(seed[0], []byte(seed[1]), true)
	}
	bare := file().Options
	f.Fuzz(func(t *testing.T, key string, raw []byte, cordoned bool) {
		if !utf8.ValidString(key) {
			t.Skip("Kubernetes keeps no such text")
		}
		in := input()
		in.Cordoned = cordoned
		in.Kafka.Spec.Kafka.Config[key] = apiextensionsv1.JSON{Raw: raw}
		rendered := brokerconfig.Render(in)
		for name, want := range bare {
			if got := rendered.Options[name]; got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
		if got := rendered.Options[brokerconfig.CordonedLogDirs]; (got == "*") != cordoned || (got != "") != cordoned {
			t.Errorf("the cordon is %q", got)
		}
		users := len(rendered.Options) - len(bare)
		if cordoned {
			users--
		}
		if users+len(rendered.Refused) != 1 {
			t.Errorf("%d options of the user's, and %+v", users, rendered.Refused)
		}
		text := rendered.Text()
		if text != brokerconfig.Render(in).Text() || rendered.Hash() != brokerconfig.Render(in).Hash() {
			t.Error("it differs the second time")
		}
		read, err := properties(text)
		if err != nil || !maps.Equal(read, rendered.Options) {
			t.Errorf("%v: read as %q, want %q, from:\n%s", err, read, rendered.Options, text)
		}
		converged(t, rendered)
	})
}

// converged starts a broker with the file.
func converged(t *testing.T, f brokerconfig.File) {
	t.Helper()
	c := &cluster{brokers: map[int32]*process{3: {file: f.Options, own: map[string]string{}}}, all: map[string]string{}, level: 30}
	if _, held, err := c.converge(map[int32]brokerconfig.File{3: f}); err != nil || len(held) > 0 {
		t.Errorf("%v, %v", held, err)
	}
	for name := range c.all {
		// Of other options the model reports nothing, so that they are set.
		if _, known := playground[name]; known {
			t.Errorf("%s was set", name)
		}
	}
}

var errProperties = errors.New("not as this reader of properties expects")

// properties reads a file as the documentation of java.util.Properties.load says,
// without what the writer never writes: comments, lines that go on, and blanks
// around the separator.
func properties(text string) (map[string]string, error) {
	m := map[string]string{}
	lines := bufio.NewScanner(strings.NewReader(text))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var parts [2][]uint16
		part, line := 0, lines.Text()
		for i := 0; i < len(line); i++ {
			switch c := line[i]; {
			case c < ' ' || c > '~' || part == 0 && strings.IndexByte(" :#!", c) >= 0 || part == 1 && c == ' ' && len(parts[1]) == 0:
				return nil, errProperties
			case c == '=' && part == 0:
				part = 1
			case c != '\\':
				parts[part] = append(parts[part], uint16(c))
			case strings.HasPrefix(line[i+1:], "u"):
				n, err := strconv.ParseUint(line[i+2:i+6], 16, 16)
				if err != nil {
					return nil, err
				}
				parts[part] = append(parts[part], uint16(n))
				i += 5
			default:
				i++
				parts[part] = append(parts[part], uint16(line[i]))
			}
		}
		key := string(utf16.Decode(parts[0]))
		if _, dup := m[key]; dup || part == 0 {
			return nil, errProperties
		}
		m[key] = string(utf16.Decode(parts[1]))
	}
	return m, lines.Err()
}
