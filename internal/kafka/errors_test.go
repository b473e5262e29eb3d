package kafka

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
)

func TestClassification(t *testing.T) {
	tests := map[string]struct {
		code        int16
		wantIs      error
		wantPassing bool
	}{
		"unknown topic":                            {code: 3, wantIs: ErrUnknownTopic},
		"topic exists":                             {code: 36, wantIs: ErrTopicExists},
		"deletion disabled":                        {code: 73, wantIs: ErrTopicDeletionDisabled},
		"no right to the topic":                    {code: 29, wantIs: ErrAuthorization},
		"no right to the cluster":                  {code: 31, wantIs: ErrAuthorization},
		"not authenticated":                        {code: 58, wantIs: ErrAuthentication, wantPassing: true},
		"a mechanism that is not offered":          {code: 33, wantIs: ErrAuthentication, wantPassing: true},
		"a login where none is expected":           {code: 34, wantIs: ErrAuthentication, wantPassing: true},
		"invalid partitions":                       {code: 37, wantIs: ErrInvalidPartitions},
		"invalid replication factor":               {code: 38, wantIs: ErrInvalidReplicationFactor},
		"invalid topic":                            {code: 17, wantIs: ErrInvalidTopic},
		"invalid config":                           {code: 40, wantIs: ErrInvalidConfig},
		"invalid request":                          {code: 42, wantIs: ErrInvalidRequest},
		"policy":                                   {code: 44, wantIs: ErrPolicyViolation},
		"throttled":                                {code: 89, wantIs: ErrThrottled, wantPassing: true},
		"timed out in kafka":                       {code: 7, wantIs: ErrTimeout, wantPassing: true},
		"no controller":                            {code: 41, wantIs: ErrNotController, wantPassing: true},
		"retriable to Kafka, without a name here":  {code: kerr.BrokerNotAvailable.Code, wantPassing: true},
		"a broker that is not registered":          {code: 102, wantIs: ErrBrokerNotRegistered},
		"a feature level that cannot be":           {code: 95, wantIs: ErrInvalidUpdateVersion},
		"a feature update that failed":             {code: 96, wantIs: ErrFeatureUpdateFailed},
		"a version that the broker lacks":          {code: 35, wantIs: ErrUnsupportedVersion},
		"final to Kafka, without a name here":      {code: kerr.InvalidPrincipalType.Code},
		"an unexpected error of the server":        {code: -1},
		"a code that this client does not know of": {code: 9999},
	}
	sentinels := []error{
		ErrUnknownTopic, ErrTopicExists, ErrTopicDeletionDisabled, ErrAuthorization, ErrAuthentication, ErrInvalidPartitions,
		ErrInvalidReplicationFactor, ErrInvalidTopic, ErrInvalidConfig, ErrInvalidRequest, ErrPolicyViolation, ErrThrottled,
		ErrBrokerNotRegistered, ErrInvalidUpdateVersion, ErrFeatureUpdateFailed, ErrUnsupportedVersion,
		ErrTimeout, ErrNotController, ErrUnreachable, ErrTLS, ErrNotAnswered, ErrClosed,
	}
	op := operation{verb: "create", needs: "CREATE on the topic"}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			err := fmt.Errorf("somewhere: %w", op.topicError("orders", answer{code: test.code}))
			for _, sentinel := range sentinels {
				if got, want := errors.Is(err, sentinel), errors.Is(test.wantIs, sentinel); got != want {
					t.Errorf("is %q: %t, want %t", sentinel, got, want)
				}
			}
			if got := Passing(err); got != test.wantPassing {
				t.Errorf("passing: %t, want %t", got, test.wantPassing)
			}
			e, ok := errors.AsType[*Error](err)
			if !ok || e.Code != test.code || e.Name == "" || e.Message == "" {
				t.Errorf("Kafka's own code, name and message were lost: %+v", e)
			}
			for _, part := range []string{"create", `"orders"`, fmt.Sprintf("(%d)", test.code)} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not say %s", err, part)
				}
			}
			if names := strings.Contains(err.Error(), op.needs); names != errors.Is(test.wantIs, ErrAuthorization) {
				t.Errorf("%q: names the ACL: %t", err, names)
			}
		})
	}
}

func TestSuccessIsNoError(t *testing.T) {
	if err := (operation{}).topicError("orders", answer{}); err != nil {
		t.Error(err)
	}
}

func TestKafkasMessageWins(t *testing.T) {
	message := "Invalid value soon for configuration retention.ms"
	err := operation{verb: "alter"}.topicError("orders", answer{code: kerr.InvalidConfig.Code, message: &message})
	if !strings.HasSuffix(err.Error(), "INVALID_CONFIG (40): "+message) {
		t.Error(err)
	}
}

func TestWait(t *testing.T) {
	throttled := operation{}.topicError("t", answer{code: kerr.ThrottlingQuotaExceeded.Code, throttleMillis: 1500})
	if got := Wait(fmt.Errorf("somewhere: %w", throttled)); got != 1500*time.Millisecond {
		t.Errorf("throttled: %s", got)
	}
	// The throttle of a response says nothing about a topic that failed for
	// another reason.
	invalid := operation{}.topicError("t", answer{code: kerr.InvalidConfig.Code, throttleMillis: 1500})
	if got := Wait(invalid); got != 0 {
		t.Errorf("invalid: %s", got)
	}
	if got := Wait(errors.New("other")); got != 0 {
		t.Errorf("other: %s", got)
	}
}

func TestPassingWithoutKafkasCode(t *testing.T) {
	tests := map[string]struct {
		err  error
		want bool
	}{
		"unreachable":         {err: ErrUnreachable, want: true},
		"not logged in":       {err: ErrAuthentication, want: true},
		"not trusted":         {err: ErrTLS, want: true},
		"timeout":             {err: ErrTimeout, want: true},
		"not answered":        {err: ErrNotAnswered, want: true},
		"all are passive":     {err: ErrNotController, want: true},
		"closed":              {err: ErrClosed, want: true},
		"the caller gave up":  {err: context.Canceled, want: true},
		"the caller ran out":  {err: context.DeadlineExceeded, want: true},
		"something else":      {err: errors.New("certificate signed by unknown authority")},
		"nothing":             {err: nil},
		"wrapped and passing": {err: fmt.Errorf("at: %w", ErrUnreachable), want: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Passing(test.err); got != test.want {
				t.Errorf("got %t, want %t", got, test.want)
			}
		})
	}
}
