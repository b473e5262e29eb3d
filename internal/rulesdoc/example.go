package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/facts"
	"github.com/sluice-kafka/sluice/internal/offline"
	"github.com/sluice-kafka/sluice/internal/validation"
)

// Names of the files that an example's parts stand in.
const (
	besideFile  = "beside.yaml"
	exampleFile = "example.yaml"
)

// complete fills in what an example leaves out: the API's version, a name and,
// but in an example about just that, the label of a cluster.
func complete(a validation.About, text string) (map[string]any, error) {
	var o map[string]any
	if err := yaml.UnmarshalStrict([]byte(text), &o); err != nil {
		return nil, fmt.Errorf("reading an example: %w", err)
	}
	meta, _ := o["metadata"].(map[string]any)
	if meta == nil {
		meta = map[string]any{}
	}
	o["metadata"] = meta
	version, name := apiv1.GroupVersion.String(), "orders"
	switch o["kind"] {
	case "ConfigMap":
		version = "v1"
	case apiv1.KindKafka:
		name = "my-cluster"
	default:
		if meta["labels"] == nil && !strings.HasSuffix(a.Rule, "-label-missing") {
			meta["labels"] = map[string]any{apiv1.LabelCluster: "my-cluster"}
		}
	}
	if meta["name"] == nil {
		meta["name"] = name
	}
	o["apiVersion"] = version
	return o, nil
}

// documents completes each of several documents.
func documents(a validation.About, text string) ([]map[string]any, error) {
	var objects []map[string]any
	for part := range strings.SplitSeq(text, "\n---\n") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		o, err := complete(a, part)
		if err != nil {
			return nil, err
		}
		objects = append(objects, o)
	}
	return objects, nil
}

func file(a validation.About, name, text string) ([]offline.File, error) {
	objects, err := documents(a, text)
	if err != nil || len(objects) == 0 {
		return nil, err
	}
	var content bytes.Buffer
	for _, o := range objects {
		raw, err := yaml.Marshal(o)
		if err != nil {
			return nil, fmt.Errorf("writing an example: %w", err)
		}
		content.WriteString("---\n")
		content.Write(raw)
	}
	return []offline.File{offline.OneFile(name, func() (io.ReadCloser, error) { return io.NopCloser(&content), nil })}, nil
}

// judge returns what is said of text, which is the example of a rule or its
// mend.
func judge(ctx context.Context, a validation.About, text string) ([]offline.Message, error) {
	if a.Deleted {
		return judgeDeletion(a, text)
	}
	req := offline.Request{Rules: validation.Options{WithoutCertManager: a.WithoutCertManager}}
	for _, part := range []struct {
		to         *[]offline.File
		name, text string
	}{
		{&req.Files, besideFile, a.Beside}, {&req.Files, exampleFile, text},
		// What stands beside the example is there already.
		{&req.Old, besideFile, a.Beside}, {&req.Old, exampleFile, a.Before},
	} {
		files, err := file(a, part.name, part.text)
		if err != nil {
			return nil, err
		}
		*part.to = append(*part.to, files...)
	}
	report, err := offline.Run(ctx, req)
	if err != nil {
		return nil, err
	}
	var messages []offline.Message
	for _, m := range report.Messages {
		if m.File == exampleFile {
			messages = append(messages, m)
		}
	}
	return messages, nil
}

// judgeDeletion judges the deletion of a pool, the only one that is judged.
func judgeDeletion(a validation.About, text string) ([]offline.Message, error) {
	var pool apiv1.KafkaNodePool
	var known validation.PoolFacts
	o, err := complete(a, text)
	if err != nil {
		return nil, err
	}
	beside, err := documents(a, a.Beside)
	if err != nil {
		return nil, err
	}
	for _, b := range beside {
		switch b["kind"] {
		case apiv1.KindKafka:
			known.Kafka = &apiv1.Kafka{}
			err = into(b, known.Kafka)
		case "ConfigMap":
			var cm corev1.ConfigMap
			if err = into(b, &cm); err == nil {
				known.Seen = &facts.Facts{}
				*known.Seen, err = facts.Decode(&cm)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	if err := into(o, &pool); err != nil {
		return nil, err
	}
	var messages []offline.Message
	for _, f := range validation.KafkaNodePoolDeletion(&pool, known).Refusals {
		messages = append(messages, offline.Message{
			File: exampleFile, Severity: offline.Error, Kind: apiv1.KindKafkaNodePool, Rule: f.Rule, Path: f.Path.String(), Text: f.Text(),
		})
	}
	return messages, nil
}

func into(o map[string]any, object any) error {
	raw, err := yaml.Marshal(o)
	if err == nil {
		err = yaml.Unmarshal(raw, object)
	}
	if err != nil {
		return fmt.Errorf("reading an example: %w", err)
	}
	return nil
}
