package main

import (
	"fmt"
	"io"
	"strings"
)

// story prints what happens so that it reads from top to bottom.
type story struct {
	out      io.Writer
	chapters int
}

func (s *story) chapter(title string) {
	s.chapters++
	heading := fmt.Sprintf("%d. %s", s.chapters, title)
	fmt.Fprintf(s.out, "\n%s\n%s\n", heading, strings.Repeat("-", len(heading)))
}

func (s *story) say(format string, args ...any) {
	fmt.Fprintf(s.out, "  "+format+"\n", args...)
}

func (s *story) blank() {
	fmt.Fprintln(s.out)
}

// command shows what a reader would type.
func (s *story) command(format string, args ...any) {
	fmt.Fprintf(s.out, "\n  $ "+format+"\n", args...)
}

// answer shows what came back, wrapped to the width of a terminal.
func (s *story) answer(text string) {
	for _, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		for _, l := range wrap(line, 96) {
			fmt.Fprintf(s.out, "    %s\n", l)
		}
	}
}

// check says that a step is as it should be, or fails the demo.
func (s *story) check(ok bool, format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	if !ok {
		return fmt.Errorf("not as it should be: %s", text)
	}
	fmt.Fprintf(s.out, "  [ok] %s\n", text)
	return nil
}

// counted puts a number before its noun.
func counted(n int, noun string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(noun, "ch"):
		noun += "es"
	default:
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

func wrap(line string, width int) []string {
	var lines []string
	current := ""
	for _, word := range strings.Split(line, " ") {
		if current != "" && len(current)+1+len(word) > width {
			lines = append(lines, current)
			current = "  " + word
			continue
		}
		if current != "" {
			current += " "
		}
		current += word
	}
	return append(lines, current)
}
