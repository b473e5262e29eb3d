// Package controllers registers the controllers that were asked for.
package controllers

import (
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/sluice-kafka/sluice/internal/options"
)

// registrations by the name that --controllers knows.
var registrations = map[string]func(ctrl.Manager, options.Operator) error{
	options.ControllerTopic: addTopic,
}

// Add registers the controllers that opts name.
func Add(mgr ctrl.Manager, opts options.Operator) error {
	for _, name := range opts.Controllers {
		register, ok := registrations[name]
		if !ok {
			return fmt.Errorf("registering the controllers: there is none named %q", name)
		}
		if err := register(mgr, opts); err != nil {
			return fmt.Errorf("registering controller %q: %w", name, err)
		}
	}
	return nil
}

// addTopic is where the topic controller is wired.
func addTopic(mgr ctrl.Manager, _ options.Operator) error {
	mgr.GetLogger().Info("This build has no topic controller yet")
	return nil
}
