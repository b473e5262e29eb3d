//go:build linux

package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// storageClass is the default one: a claim is a folder, and may grow.
const storageClass = "folder"

// provisioner names this agent in the class and in its volumes.
const provisioner = "folder.node-agent.sluice.dev"

// syncClaims gives every claim a volume that is a folder, and removes the
// folders of claims that are gone.
func (a *Agent) syncClaims(ctx context.Context) (done bool) {
	if err := a.ensureClass(ctx); err != nil {
		a.Log.Error("Making the storage class", "error", err)
		return false
	}
	claims, err := a.claims.List(labels.Everything())
	if err != nil {
		a.Log.Error("Listing claims", "error", err)
		return false
	}
	sortByName(claims)
	done = true
	live := map[string]bool{}
	for _, c := range claims {
		live[volumeName(c)] = true
		if c.DeletionTimestamp != nil {
			continue
		}
		if err := a.bindClaim(ctx, c); err != nil && !apierrors.IsConflict(err) {
			a.Log.Error("Binding a claim", "claim", c.Namespace+"/"+c.Name, "error", err)
			done = false
		}
	}
	if err := a.dropVolumes(ctx, live); err != nil {
		a.Log.Error("Dropping volumes", "error", err)
		return false
	}
	return done
}

func (a *Agent) ensureClass(ctx context.Context) error {
	grows := true
	mode := storagev1.VolumeBindingImmediate
	_, err := a.Client.StorageV1().StorageClasses().Create(ctx, &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{
			Name:        storageClass,
			Annotations: map[string]string{"storageclass.kubernetes.io/is-default-class": "true"},
		},
		Provisioner: provisioner, AllowVolumeExpansion: &grows, VolumeBindingMode: &mode,
	}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	attach := false
	_, err = a.Client.StorageV1().CSIDrivers().Create(ctx, &storagev1.CSIDriver{
		ObjectMeta: metav1.ObjectMeta{Name: provisioner},
		// Else the controller manager would wait for a driver to attach folders.
		Spec: storagev1.CSIDriverSpec{AttachRequired: &attach},
	}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	return nil
}

func volumeName(c *corev1.PersistentVolumeClaim) string { return "pvc-" + string(c.UID) }

func (a *Agent) claimDir(volume string) string { return filepath.Join(a.Root, "claims", volume) }

// bindClaim makes the folder and the volume, and binds both ways. Each step is
// taken only where it is not done: the volume controller may be faster.
func (a *Agent) bindClaim(ctx context.Context, c *corev1.PersistentVolumeClaim) error {
	name := volumeName(c)
	if c.Spec.VolumeName != "" && c.Spec.VolumeName != name {
		return nil // somebody else's
	}
	if err := os.MkdirAll(a.claimDir(name), 0o777); err != nil {
		return err
	}
	volume, err := a.ensureVolume(ctx, c)
	if err != nil {
		return fmt.Errorf("making volume %s: %w", name, err)
	}
	if c.Spec.VolumeName == "" {
		c = c.DeepCopy()
		c.Spec.VolumeName = name
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, "pv.kubernetes.io/bind-completed", "yes")
		if c, err = a.Client.CoreV1().PersistentVolumeClaims(c.Namespace).Update(ctx, c, metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	wanted := c.Spec.Resources.Requests[corev1.ResourceStorage]
	if has := c.Status.Capacity[corev1.ResourceStorage]; c.Status.Phase == corev1.ClaimBound && has.Cmp(wanted) == 0 {
		return nil
	}
	if has := volume.Spec.Capacity[corev1.ResourceStorage]; has.Cmp(wanted) != 0 {
		volume = volume.DeepCopy()
		volume.Spec.Capacity = corev1.ResourceList{corev1.ResourceStorage: wanted}
		if _, err := a.Client.CoreV1().PersistentVolumes().Update(ctx, volume, metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	c = c.DeepCopy()
	c.Status.Phase = corev1.ClaimBound
	c.Status.AccessModes = c.Spec.AccessModes
	c.Status.Capacity = corev1.ResourceList{corev1.ResourceStorage: wanted}
	_, err = a.Client.CoreV1().PersistentVolumeClaims(c.Namespace).UpdateStatus(ctx, c, metav1.UpdateOptions{})
	return err
}

func (a *Agent) ensureVolume(ctx context.Context, c *corev1.PersistentVolumeClaim) (*corev1.PersistentVolume, error) {
	volumes := a.Client.CoreV1().PersistentVolumes()
	v, err := volumes.Get(ctx, volumeName(c), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		v = &corev1.PersistentVolume{
			ObjectMeta: metav1.ObjectMeta{
				Name:        volumeName(c),
				Annotations: map[string]string{"pv.kubernetes.io/provisioned-by": provisioner},
			},
			Spec: corev1.PersistentVolumeSpec{
				Capacity:                      corev1.ResourceList{corev1.ResourceStorage: c.Spec.Resources.Requests[corev1.ResourceStorage]},
				AccessModes:                   c.Spec.AccessModes,
				PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimDelete,
				VolumeMode:                    c.Spec.VolumeMode,
				PersistentVolumeSource:        corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: provisioner, VolumeHandle: volumeName(c)}},
				ClaimRef: &corev1.ObjectReference{
					Kind: "PersistentVolumeClaim", APIVersion: "v1",
					Namespace: c.Namespace, Name: c.Name, UID: c.UID,
				},
			},
		}
		if c.Spec.StorageClassName != nil {
			v.Spec.StorageClassName = *c.Spec.StorageClassName
		}
		v, err = volumes.Create(ctx, v, metav1.CreateOptions{})
	}
	if err != nil || v.Status.Phase == corev1.VolumeBound {
		return v, err
	}
	v.Status.Phase = corev1.VolumeBound
	return volumes.UpdateStatus(ctx, v, metav1.UpdateOptions{})
}

// dropVolumes removes what claims have left: the folder before the volume, so
// that nothing stays when the agent ends in between.
func (a *Agent) dropVolumes(ctx context.Context, live map[string]bool) error {
	all, err := a.volumes.List(labels.Everything())
	if err != nil {
		return err
	}
	var errs []error
	for _, v := range all {
		if v.Annotations["pv.kubernetes.io/provisioned-by"] != provisioner || live[v.Name] {
			continue
		}
		errs = append(errs, a.dropVolume(ctx, v))
	}
	return errors.Join(errs...)
}

func (a *Agent) dropVolume(ctx context.Context, v *corev1.PersistentVolume) error {
	// The claim may be newer than the list of claims.
	ref := v.Spec.ClaimRef
	c, err := a.Client.CoreV1().PersistentVolumeClaims(ref.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
	if err == nil && c.UID == ref.UID {
		return nil
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	if err := os.RemoveAll(a.claimDir(v.Name)); err != nil {
		return fmt.Errorf("removing the folder of claim %s/%s: %w", ref.Namespace, ref.Name, err)
	}
	volumes := a.Client.CoreV1().PersistentVolumes()
	if v.Status.Phase == corev1.VolumeBound {
		v = v.DeepCopy()
		v.Status.Phase = corev1.VolumeReleased
		if _, err := volumes.UpdateStatus(ctx, v, metav1.UpdateOptions{}); ignoreStale(err) != nil {
			return err
		}
	}
	if v.DeletionTimestamp != nil {
		return nil
	}
	return ignoreStale(volumes.Delete(ctx, v.Name, metav1.DeleteOptions{}))
}

// ignoreStale drops errors that say no more than that the object has changed:
// an event about it is on its way.
func ignoreStale(err error) error {
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
