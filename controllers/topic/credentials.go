package topic

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sluice-kafka/sluice/internal/kafka"
)

// withSecrets completes the security of a cluster by what its Secrets hold now.
func (c *Controller) withSecrets(ctx context.Context, cluster Cluster) (Cluster, error) {
	if cluster.Login != nil {
		return cluster.withLogin(ctx)
	}
	own := kafka.Security{}
	if cluster.Credentials != nil {
		data, err := c.secret(ctx, cluster, *cluster.Credentials)
		if err != nil {
			return cluster, err
		}
		if own, err = kafka.SecurityOf(data); err != nil {
			return cluster, &obstacle{reason: reasonBadCredentials, message: fmt.Sprintf(
				"the Secret %s does not hold credentials for the Kafka cluster %s: %v", cluster.Credentials, cluster.ID(), err)}
		}
	}
	known := cluster.Security
	if cluster.CA != nil {
		data, err := c.secret(ctx, cluster, cluster.CA.NamespacedName)
		if err != nil {
			return cluster, err
		}
		ca := data[cluster.CA.Key]
		if len(ca) == 0 {
			return cluster, &obstacle{reason: reasonBadCredentials, message: fmt.Sprintf(
				"the Secret %s has nothing under the key %s: put the certificates there, in PEM form, that the brokers of %s are verified by",
				cluster.CA.NamespacedName, cluster.CA.Key, cluster.ID())}
		}
		tls := kafka.TLS{}
		if known.TLS != nil {
			tls = *known.TLS
		}
		tls.CA = ca
		known.TLS = &tls
	}
	if known.TLS != nil {
		own = own.WithTLS(*known.TLS)
	}
	if own.SASL == nil {
		own.SASL = known.SASL
	}
	cluster.Security = own
	return cluster, nil
}

// withLogin has the security that Login reads, and not Login, which cannot be compared.
func (c Cluster) withLogin(ctx context.Context) (Cluster, error) {
	security, err := c.Login(ctx)
	if err != nil {
		return c, &obstacle{reason: reasonBadCredentials, message: fmt.Sprintf(
			"what is needed to connect to the Kafka cluster %s cannot be read: %v", c.ID(), err)}
	}
	c.Security, c.Login = security, nil
	return c, nil
}

// secret reads a Secret from the API server: none is watched or kept.
func (c *Controller) secret(ctx context.Context, cluster Cluster, name types.NamespacedName) (map[string][]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, writeLimit)
	defer cancel()
	secret := &corev1.Secret{}
	err := c.live.Get(ctx, name, secret)
	switch {
	case err == nil:
		return secret.Data, nil
	case apierrors.IsNotFound(err):
		return nil, &obstacle{reason: reasonNoSecret, message: fmt.Sprintf(
			"there is no Secret %s, from which the credentials for the Kafka cluster %s are read: create it", name, cluster.ID())}
	case apierrors.IsForbidden(err):
		return nil, &obstacle{reason: reasonSecretForbidden, message: forbidden(cluster, name)}
	}
	return nil, fmt.Errorf("reading the Secret %s of the Kafka cluster %s: %w", name, cluster.ID(), err)
}

// forbidden says what lets the operator read a Secret.
func forbidden(cluster Cluster, name types.NamespacedName) string {
	if cluster.Kafka == nil {
		return fmt.Sprintf("the operator may not get the Secret %s of the Kafka cluster %s: give the cluster in the chart's value externalClusters, "+
			"which brings that right along, or bind it to the operator's service account", name, cluster.ID())
	}
	return fmt.Sprintf("the operator may not get the Secret %s: add {namespace: %s, name: %s} to the chart's value topics.credentials.secrets, "+
		"or set topics.credentials.anySecret to true", name, name.Namespace, name.Name)
}
