"""The rule families of pod specifications, each with its upstream source."""

from __future__ import annotations

from trainyard.upstream.apiserver.problems import Rule

CORE = "k8s.io/kubernetes v1.35.4 pkg/apis/core/validation/validation.go"

ANNOTATIONS = Rule(
    "core/pod-annotations",
    f"{CORE} ValidatePodSpecificAnnotations",
    title="Annotations of a pod that Kubernetes reads have valid values.",
    fix="correct the annotation, or use the field that replaced it",
)
AFFINITY = Rule(
    "core/affinity",
    f"{CORE} validateAffinity",
    title="Affinity rules of a pod have valid terms, weights, keys and topology keys.",
    fix="set topologyKey in each pod term; weights are 1 to 100",
)
CLAIMS = Rule(
    "core/resource-claims",
    f"{CORE} validatePodResourceClaims",
    title="Resource claims of a pod have unique names and one source each.",
    fix="set exactly one of resourceClaimName and resourceClaimTemplateName",
)
CONTAINER = Rule(
    "core/container",
    f"{CORE} validateContainerCommon",
    title="Containers have a unique valid name, an image and valid policies.",
    fix="give each container its own name and an image; use the value that the message gives",
)
DNS = Rule(
    "core/pod-dns",
    f"{CORE} validatePodDNSConfig",
    title="The DNS settings of a pod are valid and within the limits.",
    fix="correct dnsConfig; dnsPolicy None needs at least one nameserver",
)
ENV = Rule(
    "core/env",
    f"{CORE} ValidateEnv",
    title="Environment variables have a name, and either a value or one source.",
    fix="set value or one field of valueFrom, and correct the name",
)
HANDLER = Rule(
    "core/probe",
    f"{CORE} validateHandler",
    title="Probes and lifecycle hooks have one handler and valid times.",
    fix="set exactly one handler, and correct the field in the message",
)
HOST = Rule(
    "core/host-namespaces",
    f"{CORE} validateHostUsers",
    title="A pod with hostUsers: false uses no namespace of its host and no block device.",
    fix="remove hostUsers: false, or the field in the message",
)
INIT = Rule(
    "core/init-container",
    f"{CORE} validateInitContainers",
    title="Only restartable init containers (restartPolicy: Always) have probes and lifecycle hooks.",
    fix="set restartPolicy: Always, or remove the field",
)
MOUNT = Rule(
    "core/volume-mount",
    f"{CORE} ValidateVolumeMounts",
    title="Volume mounts name a volume of the pod and have unique valid paths.",
    fix="use the name of an entry of spec.volumes, and one mountPath per mount",
)
DEVICE = Rule(
    "core/volume-device",
    f"{CORE} ValidateVolumeDevices",
    title="Volume devices name a block volume of the pod and have unique paths.",
    fix="use a persistentVolumeClaim or ephemeral volume, and one devicePath per device",
)
OS = Rule(
    "core/pod-os",
    f"{CORE} validateOS",
    title="Pods for Linux and Windows set only the fields of their system.",
    fix="remove the field of the other system, or correct spec.os.name",
)
POD = Rule(
    "core/pod",
    f"{CORE} ValidatePodSpec",
    title="The fields of a pod's spec are valid.",
    fix="use a value that the message allows, or remove the field",
)
PORT = Rule(
    "core/container-port",
    f"{CORE} validateContainerPorts",
    title="Container ports have valid numbers, unique names and unique host ports.",
    fix="use numbers from 1 to 65535, and give each port its own name",
)
PROBE = HANDLER.of_source(f"{CORE} validateProbe")
RESOURCES = Rule(
    "core/resources",
    f"{CORE} validateResourceRequirements",
    title="Requests and limits of a container or pod are valid and consistent.",
    fix="let requests be at most the limits; devices and huge pages need equal values",
)
RESTART = Rule(
    "core/restart-policy",
    f"{CORE} validateRestartPolicy",
    title="Restart policies and restart rules of pods and containers are valid.",
    fix="use Always, OnFailure or Never, and correct the rule in the message",
)
CONTAINER_RESTART = RESTART.of_source(f"{CORE} validateContainerRestartPolicy")
SCHEDULING = Rule(
    "core/scheduling-gates",
    f"{CORE} validateSchedulingGates",
    title="Scheduling gates of a pod have unique qualified names.",
    fix="give each gate its own name, such as example.com/gate",
)
SECURITY = Rule(
    "core/security-context",
    f"{CORE} ValidateSecurityContext",
    title="The security contexts of a pod and its containers are consistent.",
    fix="use a value that the message allows, or remove one of two settings that contradict each other",
)
SYSCTL = Rule(
    "core/sysctl",
    f"{CORE} validateSysctls",
    title="The sysctls of a pod have valid unique names and fit its host namespaces.",
    fix="correct the name, or remove the sysctl that needs a namespace of the pod",
)
SPREAD = Rule(
    "core/topology-spread",
    f"{CORE} validateTopologySpreadConstraints",
    title="Topology spread constraints have a key, a positive maxSkew and a valid action.",
    fix="set topologyKey and maxSkew of 1 or more; whenUnsatisfiable is DoNotSchedule or ScheduleAnyway",
)
TEMPLATE = Rule(
    "core/pod-template",
    f"{CORE} ValidatePodTemplateSpec",
    title="A pod template has no ephemeral containers.",
    fix="remove ephemeralContainers",
)
TOLERATION = Rule(
    "core/toleration",
    f"{CORE} ValidateTolerations",
    title="Tolerations have valid keys, operators and effects.",
    fix="remove value for operator Exists; tolerationSeconds needs effect NoExecute",
)
VOLUME = Rule(
    "core/volume",
    f"{CORE} ValidateVolumes",
    title="Volumes of a pod have unique names and one valid source each.",
    fix="set exactly one source, and correct the field in the message",
)
WINDOWS = Rule(
    "core/windows-options",
    f"{CORE} validateWindowsSecurityContextOptions",
    title="Windows options of a pod and its containers are valid and agree.",
    fix="correct windowsOptions; either all containers are host processes or none is",
)
