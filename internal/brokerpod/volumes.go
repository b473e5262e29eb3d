package brokerpod

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/brokerconfig"
	"github.com/sluice-kafka/sluice/internal/templating"
)

// Volumes of a node besides its disks. Templates cannot use names that begin so.
const (
	volumeConfig = "sluice-config"
	volumeTmp    = "sluice-tmp"
)

func mounts(in Input) []corev1.VolumeMount {
	var all []corev1.VolumeMount
	for _, v := range brokerconfig.Volumes(in.Pool, in.Node) {
		all = append(all, corev1.VolumeMount{Name: v.Name, MountPath: v.MountPath})
	}
	return append(all,
		corev1.VolumeMount{Name: volumeConfig, MountPath: configDir, ReadOnly: true},
		corev1.VolumeMount{Name: volumeTmp, MountPath: "/tmp"},
	)
}

// volumes returns the node's own volumes, then those of the pod template in its
// order, then the templated ones.
func volumes(in Input, f *faults) []corev1.Volume {
	return append(plainVolumes(in, f), templated(in, f)...)
}

func plainVolumes(in Input, f *faults) []corev1.Volume {
	template, ofPool := templating.PodTemplate(in.Kafka.Spec.Kafka.Template, in.Pool.Spec.Template)
	at := f.of(in, ofPool, "template", "pod")
	all := disks(in, f)
	tmp := &corev1.EmptyDirVolumeSource{}
	if template != nil {
		tmp.SizeLimit = quantity(template.TmpDirSizeLimit, at.child("tmpDirSizeLimit"))
	}
	all = append(all,
		corev1.Volume{Name: volumeConfig, VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: in.Node.Pod},
		}}},
		corev1.Volume{Name: volumeTmp, VolumeSource: corev1.VolumeSource{EmptyDir: tmp}},
	)
	if template != nil {
		for i, v := range template.Volumes {
			all = append(all, additional(v, at.child("volumes").index(i)))
		}
	}
	return all
}

func disks(in Input, f *faults) []corev1.Volume {
	var all []corev1.Volume
	for _, v := range brokerconfig.Volumes(in.Pool, in.Node) {
		out := corev1.Volume{Name: v.Name}
		if v.ClaimName != "" {
			out.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{ClaimName: v.ClaimName}
		} else {
			spec, at := specOf(in, v, f)
			out.EmptyDir = &corev1.EmptyDirVolumeSource{SizeLimit: quantity(spec.SizeLimit, at.child("sizeLimit"))}
		}
		all = append(all, out)
	}
	return all
}

// specOf returns what a pool says of a disk, and where.
func specOf(in Input, v brokerconfig.Volume, f *faults) (apiv1.SingleVolume, place) {
	at := f.of(in, true, "storage")
	storage := in.Pool.Spec.Storage
	if storage.Type != apiv1.StorageJBOD {
		return storage.SingleVolume, at
	}
	for i, one := range storage.Volumes {
		if one.ID != nil && *one.ID == v.ID {
			return one, at.child("volumes").index(i)
		}
	}
	return apiv1.SingleVolume{}, at
}

// additional returns the volume of a template that is the same in every pod.
func additional(v apiv1.AdditionalVolume, at place) corev1.Volume {
	return corev1.Volume{Name: v.Name, VolumeSource: corev1.VolumeSource{
		Secret:                v.Secret.DeepCopy(),
		ConfigMap:             v.ConfigMap.DeepCopy(),
		PersistentVolumeClaim: v.PersistentVolumeClaim.DeepCopy(),
		EmptyDir:              object[corev1.EmptyDirVolumeSource](v.EmptyDir, at.child("emptyDir")),
		CSI:                   object[corev1.CSIVolumeSource](v.CSI, at.child("csi")),
		Image:                 object[corev1.ImageVolumeSource](v.Image, at.child("image")),
	}}
}

func templated(in Input, f *faults) []corev1.Volume {
	applied, err := templating.ForKafkaNode(in.Kafka, in.Pool)
	if err != nil {
		f.in(applied.Kind, applied.Name, field.NewPath(applied.Path)).fault("%v", err)
		return nil
	}
	node := templating.Node{ID: int64(in.Node.ID), PodName: in.Node.Pod}
	var all []corev1.Volume
	for _, v := range applied.Volumes {
		all = append(all, templating.Expand(v, node))
	}
	return all
}
