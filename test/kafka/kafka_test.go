package kafka

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAReservedPortIsItsNodesAlone(t *testing.T) {
	p, err := reservePort()
	if err != nil {
		t.Fatal(err)
	}
	defer p.release()
	n := node{broker: p}
	// Twice, as a node that is started again.
	for range 2 {
		l, err := net.Listen("tcp", n.address())
		if err != nil {
			t.Fatal(err)
		}
		_ = l.Close()
	}
}

func TestConfigurationOfANode(t *testing.T) {
	tests := map[string]struct {
		node node
		want []string
		not  []string
	}{
		"a combined node": {
			node: node{id: 0, broker: port{number: 1001}, controller: port{number: 1002}},
			want: []string{
				"process.roles=broker,controller", "listeners=PLAINTEXT://127.0.0.1:1001,CONTROLLER://127.0.0.1:1002",
				"advertised.listeners=PLAINTEXT://127.0.0.1:1001", "node.id=0",
			},
		},
		"a broker": {
			node: node{id: 2, broker: port{number: 1001}},
			want: []string{"process.roles=broker", "listeners=PLAINTEXT://127.0.0.1:1001", "node.id=2"},
		},
		"a controller": {
			node: node{id: controllerID, controller: port{number: 1002}},
			want: []string{"process.roles=controller", "listeners=CONTROLLER://127.0.0.1:1002"},
			not:  []string{"advertised.listeners", "inter.broker.listener.name"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			n := test.node
			n.dir = t.TempDir()
			if err := n.render("1000@127.0.0.1:1002", &Options{Brokers: 3, Config: map[string]string{"auto.create.topics.enable": "true"}}); err != nil {
				t.Fatal(err)
			}
			raw, err := os.ReadFile(n.properties())
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(string(raw), "\n")
			for _, want := range append(test.want, "auto.create.topics.enable=true", "log.dirs="+filepath.Join(n.dir, "data")) {
				if !contains(lines, want, true) {
					t.Errorf("no line %q in:\n%s", want, raw)
				}
			}
			for _, not := range test.not {
				if contains(lines, not+"=", false) {
					t.Errorf("%s is set in:\n%s", not, raw)
				}
			}
		})
	}
}

func contains(lines []string, want string, whole bool) bool {
	for _, line := range lines {
		if line == want || !whole && strings.HasPrefix(line, want) {
			return true
		}
	}
	return false
}

func TestCachedJarsNeedNoMaven(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("SLUICE_CACHE", cache)
	t.Setenv("PATH", "")
	libs := filepath.Join(cache, "kafka", DefaultVersion, "libs")
	if err := os.MkdirAll(libs, 0o755); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	got, err := Fetch(t.Context(), DefaultVersion, &said)
	if err != nil || got != libs || said.Len() != 0 {
		t.Errorf("got %q, %v, said %q", got, err, said.String())
	}
}

func TestWithoutJavaAndMavenWhatIsMissingIsSaid(t *testing.T) {
	t.Setenv("SLUICE_CACHE", t.TempDir())
	t.Setenv("PATH", "")
	t.Setenv("JAVA_HOME", "")
	_, err := Fetch(t.Context(), DefaultVersion, &bytes.Buffer{})
	if err == nil || !strings.Contains(err.Error(), "JAVA_HOME") || !strings.Contains(err.Error(), "mvn") {
		t.Errorf("got %v", err)
	}
}

func TestAFailedFetchLeavesNothing(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("SLUICE_CACHE", cache)
	bin := t.TempDir()
	for name, script := range map[string]string{"mvn": "#!/bin/sh\necho no route to the repository\nexit 1\n", "java": "#!/bin/sh\n"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin)
	t.Setenv("JAVA_HOME", "")
	var said bytes.Buffer
	_, err := Fetch(t.Context(), DefaultVersion, &said)
	if err == nil || !strings.Contains(err.Error(), "no route to the repository") {
		t.Errorf("got %v", err)
	}
	if !strings.Contains(said.String(), DefaultVersion) {
		t.Errorf("said %q", said.String())
	}
	if left, err := filepath.Glob(filepath.Join(cache, "kafka", "*")); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestAnUnknownVersionIsAnError(t *testing.T) {
	_, err := Start(t.Context(), Options{Version: "0.8.2"})
	if err == nil || !strings.Contains(err.Error(), DefaultVersion) {
		t.Errorf("%v does not name the known versions", err)
	}
}

func TestEmbedded(t *testing.T) {
	k, err := StartEmbedded(3)
	if err != nil {
		t.Fatal(err)
	}
	brokers := k.Bootstrap()
	if len(brokers) != 3 {
		t.Errorf("brokers: %v", brokers)
	}
	if err := k.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	for _, broker := range brokers {
		if conn, err := net.Dial("tcp", broker); err == nil {
			_ = conn.Close()
			t.Errorf("%s still listens", broker)
		}
	}
}
