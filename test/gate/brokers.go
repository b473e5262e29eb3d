package gate

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// reads are the requests of Kafka's protocol that change nothing, of those that an
// operator makes. Any other counts as a write.
var reads = map[kmsg.Key]bool{
	kmsg.Metadata: true, kmsg.ApiVersions: true, kmsg.DescribeConfigs: true, kmsg.DescribeLogDirs: true,
	kmsg.ListPartitionReassignments: true, kmsg.DescribeQuorum: true, kmsg.DescribeCluster: true,
}

// maxFrame bounds a frame of Kafka's protocol, as the brokers' socket.request.max.bytes
// does by default.
const maxFrame = 100 << 20

// dialTimeout bounds the way to a pod.
const dialTimeout = 10 * time.Second

// Brokers is a way to the brokers of a Kafka through a gate.
type Brokers struct {
	gate      *Gate
	listeners []net.Listener
	ctx       context.Context
	cancel    context.CancelFunc
	running   sync.WaitGroup
}

// NewBrokers listens at the ports on all addresses: the namespace has to be the
// test's own.
func NewBrokers(g *Gate, ports ...int) (*Brokers, error) {
	b := &Brokers{gate: g}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	for _, port := range ports {
		l, err := net.Listen("tcp4", net.JoinHostPort("0.0.0.0", strconv.Itoa(port)))
		if err != nil {
			b.Close()
			return nil, fmt.Errorf("listening for connections to brokers: %w", err)
		}
		b.listeners = append(b.listeners, l)
		b.running.Go(func() { b.accept(l) })
	}
	return b, nil
}

// Close ends all connections.
func (b *Brokers) Close() {
	b.cancel()
	for _, l := range b.listeners {
		_ = l.Close()
	}
	b.running.Wait()
}

func (b *Brokers) accept(l net.Listener) {
	for {
		client, err := l.Accept()
		if err != nil {
			return // closed
		}
		b.running.Go(func() { b.forward(client) })
	}
}

// forward joins a client with the pod whose address it meant.
func (b *Brokers) forward(client net.Conn) {
	defer func() { _ = client.Close() }()
	at := client.LocalAddr().String()
	if !strings.HasPrefix(at, gatePrefix) {
		return // nobody that looks for a pod
	}
	dialer := net.Dialer{Timeout: dialTimeout}
	broker, err := dialer.DialContext(b.ctx, "tcp4", podPrefix+strings.TrimPrefix(at, gatePrefix))
	if err != nil {
		return
	}
	join(b.ctx, b.gate, client, broker)
}

// join passes frames between a client and a broker until either ends, and ends both.
func join(ctx context.Context, g *Gate, client, broker net.Conn) {
	defer func() { _ = broker.Close() }()
	stop := context.AfterFunc(ctx, func() { _, _ = client.Close(), broker.Close() })
	defer stop()
	c := &connection{gate: g, client: client, broker: broker, muted: map[int32]func(){}}
	var both sync.WaitGroup
	both.Go(func() { c.pump(c.requests) })
	both.Go(func() { c.pump(c.answers) })
	both.Wait()
}

// connection of a client with a broker.
type connection struct {
	gate           *Gate
	client, broker net.Conn

	mu sync.Mutex
	// muted are the requests, by their correlation, whose answers do not go back.
	muted map[int32]func()
}

// errEnd ends a connection on purpose.
var errEnd = errors.New("the gate is shut")

// pump passes frames until one side ends, and the other with it.
func (c *connection) pump(frame func() error) {
	for frame() == nil {
	}
	_, _ = c.client.Close(), c.broker.Close()
}

// requests passes one. Its head is the key of the API and its version, 16 bits each,
// and the correlation (Kafka's protocol guide).
func (c *connection) requests() error {
	frame, err := readFrame(c.client)
	if err != nil {
		return err
	}
	if len(frame) < 12 {
		return fmt.Errorf("a request of %d bytes", len(frame))
	}
	if key := kmsg.Key(binary.BigEndian.Uint16(frame[4:])); !reads[key] {
		fate, then := c.gate.ask(Write{To: "Kafka", What: key.Name() + " at " + c.broker.RemoteAddr().String()})
		switch fate {
		case Lose:
			then()
			return errEnd
		case Mute:
			c.mu.Lock()
			c.muted[correlation(frame[8:])] = then
			c.mu.Unlock()
		case Pass:
		}
	}
	_, err = c.broker.Write(frame)
	return err
}

func (c *connection) answers() error {
	frame, err := readFrame(c.broker)
	if err != nil {
		return err
	}
	if len(frame) < 8 {
		return fmt.Errorf("an answer of %d bytes", len(frame))
	}
	c.mu.Lock()
	then := c.muted[correlation(frame[4:])]
	c.mu.Unlock()
	if then != nil {
		then()
		return errEnd
	}
	_, err = c.client.Write(frame)
	return err
}

func correlation(b []byte) int32 { return int32(binary.BigEndian.Uint32(b)) }

// readFrame returns one with its length, 32 bits, before it.
func readFrame(from io.Reader) ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(from, length[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(length[:])
	if n > maxFrame {
		return nil, fmt.Errorf("a frame of %d bytes", n)
	}
	frame := make([]byte, 4+n)
	copy(frame, length[:])
	_, err := io.ReadFull(from, frame[4:])
	return frame, err
}
