package validation

import "github.com/sluice-kafka/sluice/internal/brokerpod"

// What Kubernetes would not take can only be told of where Sluice makes the
// objects; others may read it otherwise.

func kafkaFieldsUnreadable(in kafkaInput) []Finding {
	if !in.kafka.HandedOver() {
		return nil
	}
	return unreadable(brokerpod.CheckKafka(in.kafka))
}

func poolFieldsUnreadable(in poolInput) []Finding {
	if !in.facts.Kafka.HandedOver() {
		return nil
	}
	return unreadable(brokerpod.CheckPool(in.pool))
}

func unreadable(faults []brokerpod.Fault) []Finding {
	var found []Finding
	for _, f := range faults {
		found = append(found, Finding{
			Severity: Refuse, Path: f.Path, Element: f.Path.String(), Value: "given", Message: f.Message,
		})
	}
	return found
}
