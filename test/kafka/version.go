package kafka

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/template"
)

// DefaultVersion is the Kafka that is used where none is named.
const DefaultVersion = "4.3.1"

// release is what has to be known of a version of Kafka to run it.
type release struct {
	// metadata is the version's own metadata version: the one that a new
	// cluster is formatted with.
	metadata string
	// log4j is the version of Log4j that this Kafka is built with; its binding
	// to SLF4J is no dependency of Kafka's artifacts, and brokers without it
	// log nothing.
	log4j string
}

var releases = map[string]release{
	"4.2.1": {metadata: "4.2-IV1", log4j: "2.25.4"},
	"4.3.1": {metadata: "4.3-IV0", log4j: "2.25.4"},
	"4.4.0": {metadata: "4.4-IV0", log4j: "2.25.4"},
}

// Versions are the versions of Kafka that can be started, in ascending order.
func Versions() []string { return slices.Sorted(maps.Keys(releases)) }

func releaseOf(version string) (release, error) {
	r, known := releases[version]
	if !known {
		return release{}, fmt.Errorf("kafka %s is not among the known versions (%s); add it to releases in test/kafka/version.go",
			version, strings.Join(Versions(), ", "))
	}
	return r, nil
}

// pom lists a broker and the command-line tools.
var pom = template.Must(template.New("pom.xml").Parse(`<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>dev.sluice.test</groupId>
  <artifactId>kafka</artifactId>
  <version>{{.Kafka}}</version>
  <packaging>pom</packaging>
  <dependencies>
    <dependency>
      <groupId>org.apache.kafka</groupId>
      <artifactId>kafka_2.13</artifactId>
      <version>{{.Kafka}}</version>
    </dependency>
    <dependency>
      <groupId>org.apache.kafka</groupId>
      <artifactId>kafka-tools</artifactId>
      <version>{{.Kafka}}</version>
    </dependency>
    <dependency>
      <groupId>org.apache.logging.log4j</groupId>
      <artifactId>log4j-slf4j-impl</artifactId>
      <version>{{.Log4j}}</version>
    </dependency>
  </dependencies>
</project>
`))
