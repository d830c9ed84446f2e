"""The rule families of pod specifications, each with its upstream source."""

from __future__ import annotations

from trainyard.upstream.apiserver.problems import Rule

CORE = "k8s.io/kubernetes v1.35.4 pkg/apis/core/validation/validation.go"

ANNOTATIONS = Rule("core/pod-annotations", f"{CORE} ValidatePodSpecificAnnotations")
AFFINITY = Rule("core/affinity", f"{CORE} validateAffinity")
CLAIMS = Rule("core/resource-claims", f"{CORE} validatePodResourceClaims")
CONTAINER = Rule("core/container", f"{CORE} validateContainerCommon")
DNS = Rule("core/pod-dns", f"{CORE} validatePodDNSConfig")
ENV = Rule("core/env", f"{CORE} ValidateEnv")
HANDLER = Rule("core/probe", f"{CORE} validateHandler")
HOST = Rule("core/host-namespaces", f"{CORE} validateHostUsers")
INIT = Rule("core/init-container", f"{CORE} validateInitContainers")
MOUNT = Rule("core/volume-mount", f"{CORE} ValidateVolumeMounts")
DEVICE = Rule("core/volume-device", f"{CORE} ValidateVolumeDevices")
OS = Rule("core/pod-os", f"{CORE} validateOS")
POD = Rule("core/pod", f"{CORE} ValidatePodSpec")
PORT = Rule("core/container-port", f"{CORE} validateContainerPorts")
PROBE = Rule("core/probe", f"{CORE} validateProbe")
RESOURCES = Rule("core/resources", f"{CORE} validateResourceRequirements")
RESTART = Rule("core/restart-policy", f"{CORE} validateRestartPolicy")
CONTAINER_RESTART = Rule("core/restart-policy", f"{CORE} validateContainerRestartPolicy")
SCHEDULING = Rule("core/scheduling-gates", f"{CORE} validateSchedulingGates")
SECURITY = Rule("core/security-context", f"{CORE} ValidateSecurityContext")
SYSCTL = Rule("core/sysctl", f"{CORE} validateSysctls")
SPREAD = Rule("core/topology-spread", f"{CORE} validateTopologySpreadConstraints")
TEMPLATE = Rule("core/pod-template", f"{CORE} ValidatePodTemplateSpec")
TOLERATION = Rule("core/toleration", f"{CORE} ValidateTolerations")
VOLUME = Rule("core/volume", f"{CORE} ValidateVolumes")
WINDOWS = Rule("core/windows-options", f"{CORE} validateWindowsSecurityContextOptions")
