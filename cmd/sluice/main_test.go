package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestHelpNamesFlagsAndVariables(t *testing.T) {
	root := newRoot()
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetArgs([]string{"operator", "--help"})
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"--max-batch-size", "SLUICE_MAX_BATCH_SIZE", "--webhook-cert-hosts", "SLUICE_CERT_MODE"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("help does not name %s", want)
		}
	}
}

func TestVersionSaysWhatItIs(t *testing.T) {
	root := newRoot()
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetArgs([]string{"version"})
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(out.String(), "sluice ") {
		t.Fatalf("printed %q", out.String())
	}
}

func TestBadCommandLinesAreRefused(t *testing.T) {
	tests := map[string]struct {
		args []string
		want string
	}{
		"a command that is not known": {[]string{"oprator"}, "oprator"},
		"a flag that is not known":    {[]string{"operator", "--max-batchsize=1"}, "--max-batchsize"},
		"an argument too many":        {[]string{"operator", "now"}, "now"},
		"a value out of range":        {[]string{"operator", "--webhook-port=-1"}, "--webhook-port=-1"},
		"a kubeconfig that is not there": {
			[]string{"operator", "--kubeconfig=/nowhere", "--controllers="}, "--kubeconfig"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			root := newRoot()
			root.SetArgs(tc.args)
			root.SetErr(&bytes.Buffer{})
			err := root.ExecuteContext(t.Context())
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("error %v, want one that says %q", err, tc.want)
			}
		})
	}
}
