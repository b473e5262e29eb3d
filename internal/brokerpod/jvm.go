package brokerpod

import (
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

// loggingOption points Log4j to the node's own configuration of logs.
const loggingOption = "-Dlog4j2.configurationFile=" + configDir + "/" + keyLogging

// performance are the options that Kafka's own start script gives
// (KAFKA_JVM_PERFORMANCE_OPTS in bin/kafka-run-class.sh), and one that ends a
// process which runs out of memory: half-dead, it would still lead partitions.
var performance = []string{
	"-XX:+UseG1GC",
	"-XX:MaxGCPauseMillis=20",
	"-XX:InitiatingHeapOccupancyPercent=35",
	"-XX:+ExplicitGCInvokesConcurrent",
	"-XX:+ExitOnOutOfMemoryError",
}

// unlocking options have to stand before those that they unlock.
var unlocking = []string{"UnlockDiagnosticVMOptions", "UnlockExperimentalVMOptions"}

// heapOptions say how large the heap is, as -Xmx does.
var heapOptions = []string{"MaxHeapSize", "MaxRAM", "MaxRAMFraction", "MaxRAMPercentage"}

// jvmOptions returns the options of a node's JVM. A pool's own replace the
// Kafka's whole, as in Strimzi (KafkaPool.fromCrd in its cluster operator).
func jvmOptions(in Input, resources corev1.ResourceRequirements, f *faults) []string {
	given, ofPool := in.Kafka.Spec.Kafka.JVMOptions, false
	if own := in.Pool.Spec.JVMOptions; own != nil {
		given, ofPool = own, true
	}
	if given == nil {
		given = &apiv1.JVMOptions{}
	}
	at := f.of(in, ofPool, "jvmOptions")
	chosen := scalars(given, at.child("-XX"))

	options := heap(given, chosen, resources)
	if len(chosen) > 0 {
		options = append(options, switches(chosen)...)
	} else {
		options = append(options, performance...)
	}
	options = append(options, "-Djava.awt.headless=true", loggingOption)
	if given.GCLoggingEnabled {
		options = append(options, "-Xlog:gc*:stdout:time")
	}
	for i, p := range given.JavaSystemProperties {
		if p.Name == "" {
			at.child("javaSystemProperties").index(i).fault("it has no name; give it one or remove it")
			continue
		}
		options = append(options, "-D"+p.Name+"="+p.Value)
	}
	return options
}

// heap returns the options of the heap: those that are given or, where nothing
// is said of it, half the memory limit and at most 5 GiB, for Kafka reads and
// writes through the page cache, which is what is left of the limit. Without a
// limit it is the 1 GiB of Kafka's own start script (bin/kafka-server-start.sh):
// the JVM's default, a quarter of the machine, would be too much for one of
// several pods.
func heap(given *apiv1.JVMOptions, chosen map[string]string, resources corev1.ResourceRequirements) []string {
	var options []string
	if given.Xms != "" {
		options = append(options, "-Xms"+given.Xms)
	}
	if given.Xmx != "" {
		options = append(options, "-Xmx"+given.Xmx)
	}
	said := slices.ContainsFunc(heapOptions, func(o string) bool { _, ok := chosen[o]; return ok })
	if len(options) > 0 || said {
		return options
	}
	const mebibyte, most = 1 << 20, 5 << 30
	size := int64(1 << 30)
	if limit, ok := resources.Limits[corev1.ResourceMemory]; ok {
		size = min(limit.Value()/2, most)
	}
	mebibytes := strconv.FormatInt(max(size/mebibyte, 1), 10) + "m"
	return []string{"-Xms" + mebibytes, "-Xmx" + mebibytes}
}

// scalars reads the -XX options.
func scalars(given *apiv1.JVMOptions, at place) map[string]string {
	raw := object[map[string]apiextensionsv1.JSON](given.XX, at)
	if raw == nil {
		return nil
	}
	chosen := make(map[string]string, len(*raw))
	for _, name := range slices.Sorted(maps.Keys(*raw)) {
		value := (*raw)[name]
		if value.Raw == nil {
			continue
		}
		text, ok := scalar(value)
		if !ok {
			at.key(name).fault("it is neither a text nor a number nor true or false; write one of these")
			continue
		}
		chosen[name] = text
	}
	return chosen
}

// switches writes -XX options in the order of their names.
func switches(chosen map[string]string) []string {
	names := slices.Sorted(maps.Keys(chosen))
	slices.SortStableFunc(names, func(a, b string) int { return rank(a) - rank(b) })
	options := make([]string, 0, len(names))
	for _, name := range names {
		switch value := chosen[name]; value {
		case "true":
			options = append(options, "-XX:+"+name)
		case "false":
			options = append(options, "-XX:-"+name)
		default:
			options = append(options, "-XX:"+name+"="+value)
		}
	}
	return options
}

func rank(option string) int {
	if slices.Contains(unlocking, option) {
		return 0
	}
	return 1
}
