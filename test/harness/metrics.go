package harness

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

var createOptions = metav1.CreateOptions{}

// Metrics is one reading of a process's metrics.
type Metrics map[string]*dto.MetricFamily

// Metrics reads the operator's metrics.
func (o *Operator) Metrics(ctx context.Context) (Metrics, error) {
	raw, err := o.Ask(ctx, http.MethodGet, metricsPath)
	if err != nil {
		return nil, err
	}
	return parseMetrics(bytes.NewReader(raw))
}

// metricsPath is where an operator serves its metrics.
const metricsPath = "/metrics"

// Ask sends a request to the server of the operator's metrics, which has what is for
// debugging too, and returns the answer.
func (o *Operator) Ask(ctx context.Context, method, path string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(o.MetricsURL, metricsPath)+path, nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s %s: the operator answers %s", method, path, resp.Status)
	}
	return io.ReadAll(resp.Body)
}

// Metrics reads the API server's metrics.
func (cp *ControlPlane) Metrics(ctx context.Context) (Metrics, error) {
	admin, err := kubernetes.NewForConfig(cp.Config)
	if err != nil {
		return nil, err
	}
	raw, err := admin.Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the API server's metrics: %w", err)
	}
	return parseMetrics(bytes.NewReader(raw))
}

func parseMetrics(r io.Reader) (Metrics, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	return parser.TextToMetricFamilies(r)
}

// Sum adds up the counter or gauge values, or the histogram counts, of the
// series of a family that carry all the given labels ("name=value").
func (m Metrics) Sum(family string, labels ...string) float64 {
	f := m[family]
	if f == nil {
		return 0
	}
	total := 0.0
	for _, s := range f.Metric {
		if !hasLabels(s, labels) {
			continue
		}
		total += s.GetCounter().GetValue() + s.GetGauge().GetValue() + float64(s.GetHistogram().GetSampleCount())
	}
	return total
}

func hasLabels(s *dto.Metric, labels []string) bool {
	for _, want := range labels {
		name, value, _ := strings.Cut(want, "=")
		found := false
		for _, l := range s.Label {
			found = found || l.GetName() == name && l.GetValue() == value
		}
		if !found {
			return false
		}
	}
	return true
}

// replacePaths replaces a mount path in arguments by a folder of this machine.
func replacePaths(args []string, mount, folder string) []string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = strings.ReplaceAll(a, mount, folder)
	}
	return out
}
