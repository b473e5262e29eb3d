package webhooks

import (
	"context"
	"sync/atomic"
	"time"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/sluice-kafka/sluice/internal/validation"
)

// lookAgainAfter is how soon an installation of cert-manager is noticed.
const lookAgainAfter = 10 * time.Second

// certManager knows whether the API server has cert-manager's kinds. It looks
// once in a while, apart from any request.
type certManager struct {
	mapper meta.RESTMapper
	clock  clock.WithTicker
	absent atomic.Bool
}

var (
	_ manager.Runnable               = (*certManager)(nil)
	_ manager.LeaderElectionRunnable = (*certManager)(nil)
)

// look asks the API server. Where it does not answer, what was known stays; at
// first that is nothing, which refuses nobody.
func (c *certManager) look(ctx context.Context) {
	gvk := certmanagerv1.SchemeGroupVersion.WithKind(certmanagerv1.CertificateKind)
	_, err := c.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil && !meta.IsNoMatchError(err) {
		log.FromContext(ctx).Error(err, "Failed to see whether cert-manager is installed")
		return
	}
	c.absent.Store(err != nil)
}

// Start looks again until ctx is done.
func (c *certManager) Start(ctx context.Context) error {
	ticker := c.clock.NewTicker(lookAgainAfter)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
			c.look(ctx)
		}
	}
}

// NeedLeaderElection is false: every replica serves webhooks.
func (*certManager) NeedLeaderElection() bool { return false }

// in adds what is known to the rules' options.
func (c *certManager) in(opts validation.Options) validation.Options {
	opts.WithoutCertManager = c.absent.Load()
	return opts
}
