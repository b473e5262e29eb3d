package dev.sluice.test;

import java.util.Map;

import org.apache.kafka.common.errors.PolicyViolationException;
import org.apache.kafka.server.policy.CreateTopicPolicy;

/** Refuses topics whose names end with "forbidden". */
public class RefuseForbidden implements CreateTopicPolicy {
    @Override
    public void configure(Map<String, ?> configs) {
    }

    @Override
    public void validate(RequestMetadata metadata) {
        if (metadata.topic().endsWith("forbidden")) {
            throw new PolicyViolationException("names must not end with forbidden");
        }
    }

    @Override
    public void close() {
    }
}
