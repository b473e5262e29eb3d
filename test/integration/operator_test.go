package integration

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-kafka/sluice/test/harness"
)

var errNoLease = errors.New("there is no lease")

// leaseOf reads the holder of the operator's lease.
func leaseOf(c client.Client) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		lease := &coordinationv1.Lease{}
		err := c.Get(ctx, client.ObjectKey{Namespace: harness.Namespace, Name: "sluice-leader"}, lease)
		if apierrors.IsNotFound(err) {
			return "", errNoLease
		}
		return ptr.Deref(lease.Spec.HolderIdentity, ""), err
	}
}

func TestMetricsAreForThoseWhoMay(t *testing.T) {
	in, op := install(t, harness.ControlPlaneOptions{}, nil, "--metrics-secure=true")
	secret := &corev1.Secret{}
	if err := in.Client.Get(t.Context(), client.ObjectKey{Namespace: harness.Namespace, Name: "sluice-serving-cert"}, secret); err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(secret.Data["ca.crt"])
	http := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
	url := strings.Replace(op.MetricsURL, "http://", "https://", 1)

	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "scraper"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "sluice-metrics-reader"},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: harness.Namespace, Name: "scraper"}},
	}
	if err := in.Client.Create(t.Context(), binding); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		token string
		want  int
	}{
		"nobody": {"", 401},
		// controller-runtime's answer where the API server finds no sense in a token.
		"a made-up token":    {"nonsense", 500},
		"an account that is": {tokenOf(t, in.Client, "scraper"), 200},
		"one that is not":    {tokenOf(t, in.Client, "stranger"), 403},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			status, body := get(t, http, url, tc.token)
			if status != tc.want {
				t.Fatalf("status %d, want %d: %s", status, tc.want, body)
			}
			if tc.want == 200 && !strings.Contains(body, "controller_runtime_webhook_requests_total") {
				t.Error("these are no metrics of the operator")
			}
		})
	}
}

// tokenOf makes a service account in the operator's namespace and a token of it.
func tokenOf(t *testing.T, c client.Client, name string) string {
	t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: harness.Namespace, Name: name}}
	if err := c.Create(t.Context(), account); err != nil {
		t.Fatal(err)
	}
	request := &authenticationv1.TokenRequest{}
	if err := c.SubResource("token").Create(t.Context(), account, request); err != nil {
		t.Fatal(err)
	}
	return request.Status.Token
}

func get(t *testing.T, c *http.Client, url, token string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(raw)
}
