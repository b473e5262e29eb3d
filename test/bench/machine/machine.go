// Package machine describes what a benchmark ran on.
package machine

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

const unknown = "unknown"

// Describe names the processor, how many of it there are, the platform and Go's
// version.
func Describe() string {
	return fmt.Sprintf("%s, %d CPUs, %s/%s, %s", processor(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
}

// Load is the load average over 1, 5 and 15 minutes; figures that were measured
// beside other work are noise.
func Load() string {
	raw, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return unknown
	}
	fields := strings.Fields(string(raw))
	return strings.Join(fields[:min(len(fields), 3)], " ")
}

func processor() string {
	raw, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return unknown + " processor"
	}
	for line := range strings.Lines(string(raw)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return unknown + " processor"
}
