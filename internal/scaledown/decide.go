package scaledown

// record is what is remembered of a broker.
type record struct{}

// Decide guards a removal. It is to be called once with each look at Kafka: the
// looks have to be made one after another.
func Decide(in Input) Decision {
	_ = in
	panic("not written yet")
}

// Message says for a condition which brokers do not go, why, and what to do. It
// is empty where none is held.
func (d Decision) Message() string { return "" }
