package v1

// HandedOver tells whether Sluice runs the Kafka; false for nil.
func (k *Kafka) HandedOver() bool {
	return k != nil && k.Annotations[AnnotationSluiceManaged] == "true"
}

// TopicsHandedOver tells whether Sluice looks after the topics of the Kafka; false
// for nil.
func (k *Kafka) TopicsHandedOver() bool {
	return k.HandedOver() || k != nil && k.Annotations[AnnotationSluiceTopics] == "true"
}
