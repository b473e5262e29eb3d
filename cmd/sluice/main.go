// Command sluice keeps Kafka on Kubernetes safe to change.
package main

func main() {}
