// Package brokerconfig renders the configuration file of each node of a Kafka
// cluster, and compares it with what the running brokers use: which options are
// to be set or deleted at run time, and what needs a restart.
//
// Everything is computed from values that others gathered. What was not seen is
// never taken for absent: it leads to no change, and the result says so.
package brokerconfig
