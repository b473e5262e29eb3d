package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"

	testkafka "github.com/sluice-kafka/sluice/test/kafka"
)

const (
	brokers = 3
	// serveVariable has this program be a Kafka and nothing else.
	serveVariable = "BENCH_TOPICS_SERVE_KAFKA"
)

// startKafka starts real brokers or an imitation for so many topics.
func startKafka(ctx context.Context, real bool, out io.Writer) (testkafka.Kafka, error) {
	if !real {
		return startImitation()
	}
	return testkafka.Start(ctx, testkafka.Options{
		Brokers: brokers, Heap: "1g", Out: out,
		Config: map[string]string{
			// Topics that were deleted give up their files before the next round.
			"log.segment.delete.delay.ms":      "1000",
			"offsets.topic.replication.factor": "1",
		},
	})
}

// imitation is the embedded Kafka in a process of its own, so that its memory and
// time are not taken for the operator's or the bare loop's.
type imitation struct {
	cmd   *exec.Cmd
	input io.Closer
	at    []string
}

func startImitation() (_ *imitation, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding the program to serve a Kafka with: %w", err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), serveVariable+"="+strconv.Itoa(brokers))
	cmd.Stderr = os.Stderr
	input, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting a process for the embedded Kafka: %w", err)
	}
	k := &imitation{cmd: cmd, input: input}
	line, err := bufio.NewReader(output).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &k.at)
	}
	if err != nil {
		return nil, fmt.Errorf("starting the embedded Kafka: %w", errors.Join(err, k.Stop(context.Background())))
	}
	return k, nil
}

// Bootstrap implements Kafka.
func (k *imitation) Bootstrap() []string { return k.at }

// String implements Kafka.
func (k *imitation) String() string { return "embedded Kafka (kfake, in a process of its own)" }

// Stop implements Kafka. The process ends when its input does, and with ours.
func (k *imitation) Stop(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() { _ = k.cmd.Process.Kill() })()
	_ = k.input.Close()
	return k.cmd.Wait()
}

// serveWhereAsked is the other process: it serves until its input ends.
func serveWhereAsked() {
	n, err := strconv.Atoi(os.Getenv(serveVariable))
	if err != nil {
		return // not asked
	}
	if err := serve(n); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func serve(n int) error {
	k, err := testkafka.StartEmbedded(n)
	if err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(k.Bootstrap()); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	return k.Stop(context.Background())
}
