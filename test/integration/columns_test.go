package integration

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/test/harness"
)

// table returns what kubectl get prints of a resource: the rows of its columns
// that are not only for -o wide, the header first.
func table(t *testing.T, cp *harness.ControlPlane, resource string) [][]string {
	t.Helper()
	web, err := rest.HTTPClientFor(cp.Config)
	if err != nil {
		t.Fatal(err)
	}
	url := strings.TrimSuffix(cp.Config.Host, "/") + "/apis/kafka.strimzi.io/v1/namespaces/default/" + resource
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
	resp, err := web.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var got metav1.Table
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	rows := make([][]string, len(got.Rows)+1)
	for i, c := range got.ColumnDefinitions {
		if c.Priority > 0 {
			continue
		}
		rows[0] = append(rows[0], strings.ToUpper(c.Name))
		for n, row := range got.Rows {
			cell := ""
			if row.Cells[i] != nil {
				cell = fmt.Sprint(row.Cells[i])
			}
			rows[n+1] = append(rows[n+1], cell)
		}
	}
	return rows
}

// width is how many characters of a line kubectl needs.
func width(rows [][]string) int {
	const gap = 3
	total := 0
	for i := range rows[0] {
		widest := 0
		for _, row := range rows {
			widest = max(widest, len(row[i]))
		}
		total += widest + gap
	}
	return total - gap
}

// kubectl get kafka,kafkanodepools answers whether a cluster is well and what it
// is doing, in the width of a terminal. The kind stands before the name then.
func TestColumnsTellHowAClusterIs(t *testing.T) {
	cp := controlPlane(t, harness.ControlPlaneOptions{})
	objects, err := harness.RenderChart(t.Context(), os.Stderr, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := cp.Install(t.Context(), crdsOf(objects)); err != nil {
		t.Fatal(err)
	}
	replicas := int64(3)
	kafka := &apiv1.Kafka{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "my-cluster"}}
	pool := &apiv1.KafkaNodePool{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "brokers"}}
	pool.Spec.Replicas = &replicas
	if err := cp.Client.Create(t.Context(), kafka); err != nil {
		t.Fatal(err)
	}
	if err := cp.Client.Create(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	held := apiv1.Condition{
		Type: apiv1.ConditionWarning, Status: "True", Reason: apiv1.ReasonScaleDownPreventionCheck, Message: "brokers 3 and 4 hold replicas",
	}
	kafka.Status.Conditions = []apiv1.Condition{{Type: apiv1.ConditionReady, Status: "True"}, held}
	kafka.Status.KafkaVersion, kafka.Status.KafkaMetadataVersion = "4.3.1", "4.3-IV0"
	pool.Status.Conditions = []apiv1.Condition{held}
	pool.Status.NodeIDs, pool.Status.Roles, pool.Status.Replicas = []int64{0, 1, 2, 3, 4}, []string{"controller", "broker"}, 5
	if err := cp.Client.Status().Update(t.Context(), kafka); err != nil {
		t.Fatal(err)
	}
	if err := cp.Client.Status().Update(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	for resource, want := range map[string]struct{ row, prefix string }{
		"kafkas":         {"my-cluster | True | True | 4.3.1 | 4.3-IV0 | ScaleDownPreventionCheck", "kafka.kafka.strimzi.io/"},
		"kafkanodepools": {`brokers | 3 | ["controller","broker"] | [0,1,2,3,4] | 5 | True`, "kafkanodepool.kafka.strimzi.io/"},
	} {
		rows := table(t, cp, resource)
		if len(rows) != 2 || strings.Join(rows[1], " | ") != want.row {
			t.Errorf("%s: got %q, want %s", resource, rows, want.row)
		}
		if got := width(rows) + len(want.prefix); got > 120 {
			t.Errorf("%s take %d columns: %q", resource, got, rows)
		}
	}
}
