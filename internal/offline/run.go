package offline

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/facts"
	"github.com/sluice-kafka/sluice/internal/validation"
)

// Request is what to judge.
type Request struct {
	// Files of the manifests. Two of one name are read once.
	Files []File
	// Old are the files of which the manifests are updates; nil where all of them
	// are new, or the cluster knows better.
	Old []File
	// Namespace of objects that name none.
	Namespace string
	// Cluster is the live one; nil where nothing is known of one.
	Cluster Cluster
	// Rules are the operator's choices.
	Rules validation.Options
	// Progress is told the number of steps, of which each file takes two, and of
	// every step that is done. It is called from several goroutines.
	Progress Progress
}

// Progress is shown while a run goes on.
type Progress interface {
	Start(steps int)
	Step()
}

// Run reads, judges and reports. An error tells that something could not be
// read; the report then covers the rest, and is nil only where nothing could be
// judged.
func Run(ctx context.Context, req Request) (*Report, error) {
	files := distinct(req.Files)
	if req.Progress != nil {
		req.Progress.Start(2 * len(files))
	}
	contents, unread := readAll(ctx, files, req)
	olds, oldUnread := readAll(ctx, distinct(req.Old), Request{Namespace: req.Namespace})
	if err := errors.Join(ctx.Err(), oldUnread); err != nil {
		return nil, err
	}
	var manifests []*manifest
	report := &Report{Files: len(files), Skipped: map[string]int{}}
	published := map[key]facts.Facts{}
	for _, c := range contents {
		manifests = append(manifests, c.manifests...)
		maps.Copy(published, c.facts)
		report.Messages = append(report.Messages, c.messages...)
		for what, n := range c.skipped {
			report.Skipped[what] += n
		}
	}
	report.Messages = append(report.Messages, otherVersions(report.Skipped)...)
	live, err := readCluster(ctx, req.Cluster, manifests)
	if err != nil {
		return nil, err
	}
	report.Messages = append(report.Messages, live.messages...)
	maps.Copy(live.facts, published)
	pair(manifests, olds, live, req.Old != nil)
	s := newSet(manifests, live)
	report.Messages = append(report.Messages, judgeAll(ctx, contents, s, req)...)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	missing, err := missingReferences(ctx, req.Cluster, manifests, s)
	report.Messages = append(report.Messages, missing...)
	for _, m := range manifests {
		report.Objects = append(report.Objects, m.asObject())
	}
	report.sort(files)
	return report, errors.Join(unread, err)
}

// otherVersions tells of manifests that look as if they were judged: the API
// server converts other versions of the API before it asks the webhook.
func otherVersions(skipped map[string]int) []Message {
	var messages []Message
	for _, what := range slices.Sorted(maps.Keys(skipped)) {
		version, kind, _ := strings.Cut(what, " ")
		if newObject(kind) != nil && strings.HasPrefix(version, apiv1.Group+"/") {
			messages = append(messages, Message{Severity: Note, Text: fmt.Sprintf(
				"%s of apiVersion %s not judged: only %s is; convert them (see Strimzi's api-conversion tool)",
				counted(skipped[what], kind), version, apiv1.GroupVersion)})
		}
	}
	return messages
}

// distinct leaves out what was given twice.
func distinct(files []File) []File {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(files), func(f File) bool {
		again := seen[f.Name]
		seen[f.Name] = true
		return again
	})
}

// readAll reads files side by side. One that cannot be read does not stand in
// the way of the others.
func readAll(ctx context.Context, files []File, req Request) ([]content, error) {
	contents, errs := make([]content, len(files)), make([]error, len(files))
	each(ctx, len(files), func(i int) {
		data, err := files[i].read()
		if err != nil {
			errs[i] = err
		} else {
			contents[i] = read(files[i], data, req.Namespace)
		}
		advance(req.Progress)
	})
	return contents, errors.Join(errs...)
}

func advance(p Progress) {
	if p != nil {
		p.Step()
	}
}

// judgeAll keeps the order of the manifests.
func judgeAll(ctx context.Context, contents []content, s *set, req Request) []Message {
	said, left := make([][]Message, len(contents)), make([][]*lookup, len(contents))
	each(ctx, len(contents), func(i int) {
		for _, m := range contents[i].manifests {
			messages, l := judge(m, s, req.Rules)
			said[i], left[i] = append(said[i], messages...), append(left[i], l)
		}
		advance(req.Progress)
	})
	u := unsettled{}
	for _, l := range slices.Concat(left...) {
		u.add(l)
	}
	return append(slices.Concat(said...), u.notes(s)...)
}

// each calls do for 0 to n−1 on all processors until ctx is done.
func each(ctx context.Context, n int, do func(i int)) {
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range n {
		if ctx.Err() != nil {
			break
		}
		g.Go(func() error {
			do(i)
			return nil
		})
	}
	_ = g.Wait() // do returns no error
}
