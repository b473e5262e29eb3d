package machine

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// RSS is the resident memory of a process in bytes.
func RSS(pid int) (int64, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		// Not Linux, or no such process: then ps fails too.
		raw, err = exec.Command("ps", "-o", "rss=", "-p", strconv.Itoa(pid)).Output()
		if err != nil {
			return 0, fmt.Errorf("reading the memory of process %d: %w", pid, err)
		}
		return kib(string(raw))
	}
	for line := range strings.Lines(string(raw)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			return kib(strings.TrimSuffix(strings.TrimSpace(rest), "kB"))
		}
	}
	return 0, fmt.Errorf("/proc tells no memory of process %d: has it ended?", pid)
}

func kib(text string) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("reading the memory of a process: %w", err)
	}
	return n << 10, nil
}
