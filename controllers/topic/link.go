package topic

import "sync"

// link is how a loop reaches its cluster: a connection that its batches share, and
// that is replaced between them.
type link struct {
	mu      sync.Mutex
	current *shared
	// why tells why there is no connection.
	why error
	// users are the batches under way on any connection of the cluster.
	users int
}

// shared is a connection that ends with its last user once it was replaced.
type shared struct {
	Connection
	users   int
	retired bool
}

// take lends the connection to a batch, or one on which every call fails where there
// is none. The batch owes a give.
func (k *link) take() *shared {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.current
	if s == nil {
		s = &shared{Connection: Connection{Admin: absent{why: k.why}}}
	}
	s.users++
	k.users++
	return s
}

func (k *link) give(s *shared) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s.users--
	k.users--
	s.end()
}

// use has all batches from now on work on a connection.
func (k *link) use(c Connection) { k.set(&shared{Connection: c}, nil) }

// cut has all calls from now on fail.
func (k *link) cut(why error) { k.set(nil, why) }

func (k *link) set(s *shared, why error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if old := k.current; old != nil {
		old.retired = true
		old.end()
	}
	k.current, k.why = s, why
}

// connected tells whether there is a connection, whatever it is worth.
func (k *link) connected() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.current != nil
}

// busy tells whether a batch is under way.
func (k *link) busy() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.users > 0
}

// reason tells why there is no connection; nil if there is one, or was none yet.
func (k *link) reason() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.why
}

func (s *shared) end() {
	if s.retired && s.users == 0 {
		s.Admin.Close()
	}
}
