// Command cert-manager runs cert-manager's own controllers, built from its
// module for tests: those that issue a Certificate from a self-signed or a CA
// issuer. It installs nothing and leads alone; its CRDs have to be there.
//
// cert-manager publishes its command as a nested module that the Go module
// proxy does not serve, and its controllers as packages, which register
// themselves where they are imported.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/cert-manager/cert-manager/pkg/controller"
	"github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/approver"
	"github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/ca"
	"github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/selfsigned"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/issuing"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/keymanager"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/readiness"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/requestmanager"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/revisionmanager"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/trigger"
	"github.com/cert-manager/cert-manager/pkg/controller/clusterissuers"
	"github.com/cert-manager/cert-manager/pkg/controller/issuers"
	"golang.org/x/sync/errgroup"

	// Each registers its kind of issuer.
	_ "github.com/cert-manager/cert-manager/pkg/issuer/ca"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/selfsigned"
)

// ready is printed when all caches are filled and the controllers run.
const ready = "cert-manager is running"

// controllers to run, by the names that they are registered under.
var controllers = []string{
	issuers.ControllerName,
	clusterissuers.ControllerName,
	trigger.ControllerName,
	keymanager.ControllerName,
	requestmanager.ControllerName,
	issuing.ControllerName,
	readiness.ControllerName,
	revisionmanager.ControllerName,
	approver.ControllerName,
	ca.CRControllerName,
	selfsigned.CRControllerName,
}

func main() {
	if err := run(os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "cert-manager:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	flags := flag.NewFlagSet("cert-manager", flag.ContinueOnError)
	kubeconfig := flags.String("kubeconfig", "", "path of the kubeconfig file")
	// The default of cert-manager's own command.
	namespace := flags.String("cluster-resource-namespace", "kube-system", "namespace of the Secrets of ClusterIssuers")
	if err := flags.Parse(args); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	factory, err := controller.NewContextFactory(ctx, controller.ContextOptions{
		Kubeconfig:         *kubeconfig,
		KubernetesAPIQPS:   50,
		KubernetesAPIBurst: 100,
		IssuerOptions:      controller.IssuerOptions{ClusterResourceNamespace: *namespace},
		CertificateOptions: controller.CertificateOptions{
			// The defaults of cert-manager's own command are 1 h and 32 h: a test
			// that meets a failed request should see the next try.
			CertificateRequestMinimumBackoffDuration: 5 * time.Second,
			CertificateRequestMaximumBackoffDuration: 30 * time.Second,
		},
	})
	if err != nil {
		return fmt.Errorf("preparing cert-manager's clients: %w", err)
	}
	made, err := construct(factory)
	if err != nil {
		return err
	}
	shared, err := factory.Build()
	if err != nil {
		return fmt.Errorf("preparing cert-manager's informers: %w", err)
	}
	shared.SharedInformerFactory.Start(ctx.Done())
	shared.KubeSharedInformerFactory.Start(ctx.Done())
	for _, c := range made {
		group.Go(func() error { return c.Run(1, ctx) })
	}
	shared.SharedInformerFactory.WaitForCacheSync(ctx.Done())
	shared.KubeSharedInformerFactory.WaitForCacheSync(ctx.Done())
	if ctx.Err() == nil {
		fmt.Println(ready)
	}
	return group.Wait()
}

// construct makes the controllers, which registers what they watch with the
// informers.
func construct(factory *controller.ContextFactory) ([]controller.Interface, error) {
	known := controller.Known()
	var made []controller.Interface
	for _, name := range slices.Sorted(slices.Values(controllers)) {
		constructor, ok := known[name]
		if !ok {
			return nil, fmt.Errorf("cert-manager has no controller %q: compare the list with its version", name)
		}
		c, err := constructor(factory)
		if err != nil {
			return nil, fmt.Errorf("preparing controller %q: %w", name, err)
		}
		made = append(made, c)
	}
	return made, nil
}
