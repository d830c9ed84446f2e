"""The rules of the statement, by what they are about: no waiver takes any of them away."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from trainyard.base.rules import Rule

LAYER: Final = "run"
LIST = "list {} in platform/teams/<team>.yaml, or remove the field"
PLATFORM = "remove the field; if the run needs it, the platform team can add it in the cluster's file"
STANDARDS = "kubernetes/website v1.35 content/en/docs/concepts/security/pod-security-standards.md"
TYPES = "kubernetes v1.35 staging/src/k8s.io/api/core/v1/types.go"

WORDS: Mapping[str, tuple[str, str, str, str]] = {
    "object": (
        "A run contains only the kinds of object that runs use, in its team's namespace, named after the run.",
        "otherwise the team could create objects that no check of runs looks at",
        "move the object to platform/extra, which the platform team reviews",
        "docs/security.md",
    ),
    "field": (
        "Objects of a run set only fields that runs may set.",
        "other fields may reach beyond the team: to Services, volumes, clusters or controllers",
        PLATFORM,
        "docs/security.md",
    ),
    "label": (
        "Labels and annotations of a run have no group, are the run's own, or have a group that the repository lists.",
        "controllers act on labels and annotations: they can grant identities, networks, devices and secrets",
        "list the group under labels in platform/repository.yaml, or remove the label or annotation",
        "docs/security.md",
    ),
    "queue": (
        "A run waits in a queue that admits its team.",
        "the quota of other queues belongs to other teams",
        "use a queue that admits the team",
        "kueue v0.19.2 pkg/controller/constants/constants.go",
    ),
    "priority": (
        "A run has a priority that its team may use, and its pods set none.",
        "a higher priority takes nodes from other teams; a pod's own priority bypasses the queue",
        "set the job's priority to one in the team's file",
        "kueue v0.19.2 pkg/controller/constants/constants.go; kubernetes v1.35 pkg/scheduler",
    ),
    "account": (
        "Pods of a run use a service account that the team lists, or have no token.",
        "a token carries the account's rights in the cluster and its cloud identity",
        LIST.format("the service account"),
        "kubernetes v1.35 plugin/pkg/admission/serviceaccount/admission.go",
    ),
    "secret": (
        "A run reads only Secrets that its team lists.",
        "other Secrets in the namespace belong to operators, registries or the platform",
        LIST.format("the Secret"),
        TYPES,
    ),
    "config": (
        "A run reads only its own ConfigMap and those that its team lists.",
        "other ConfigMaps may change or disappear while the run uses them",
        LIST.format("the ConfigMap"),
        TYPES,
    ),
    "volume": (
        "A run mounts only memory, scratch, its files, and its team's claims and Secrets.",
        "a network, node or driver volume can reach other teams' data",
        "mount a volume of the team's file",
        TYPES,
    ),
    "image": (
        "Every image of a run is from a registry that the repository allows.",
        "an image from another registry runs code that nobody has reviewed",
        "push the image to an allowed registry, or list its registry in platform/repository.yaml",
        "docs/teams.md",
    ),
    "service": (
        "Services of a run are headless.",
        "other Services can take over addresses: of the cluster (CVE-2020-8554), of nodes, of the internet",
        "keep clusterIP: None, and remove the other fields",
        "kubernetes v1.35 staging/src/k8s.io/api/core/v1/types.go ServiceSpec",
    ),
    "affinity": (
        "Pod affinity of a run selects only pods of its own namespace.",
        "anti-affinity to other teams' pods keeps them off the node, whatever their priority",
        "remove namespaces and namespaceSelector",
        "kubernetes v1.35 pkg/scheduler/framework/plugins/interpodaffinity",
    ),
    "place": (
        "The cluster's schedulers place pods of a run, which tolerate only taints of its pools.",
        "a pod that sets its node or tolerates every taint runs outside of all quotas",
        PLATFORM,
        "kubernetes v1.35 pkg/scheduler/framework/plugins/tainttoleration; nodename",
    ),
    "security": (
        "Containers of a run have only the rights that their team's Pod Security level or the fabric gives.",
        "root on a node can read the memory, Secrets and volumes of every team there",
        PLATFORM,
        STANDARDS,
    ),
    "host": (
        "Pods of a run do not share the network, processes or ports of their node, unless the fabric needs it.",
        "NetworkPolicies do not apply to a hostNetwork pod, and it can read the cloud's metadata service",
        PLATFORM,
        STANDARDS,
    ),
    "device": (
        "Containers of a run see only the GPUs and NICs that they request, in the nodes' default runtime.",
        "variables, annotations or runtime classes can give devices without quota, even those of other teams",
        "request GPUs by gpusPerNode and NICs by fabric; list a runtime class in the cluster's runtimeClasses",
        "NVIDIA/nvidia-container-toolkit v1.18 README.md; NVIDIA/k8s-device-plugin v0.20.0 README.md",
    ),
    "grace": (
        "The termination grace period of a run is at most the cluster's longestGraceSeconds.",
        "jobs that reclaim the nodes wait until these pods have ended",
        "lower the period, or raise longestGraceSeconds in the cluster's file",
        "kubernetes v1.35 staging/src/k8s.io/api/core/v1/types.go terminationGracePeriodSeconds",
    ),
    "resources": (
        "Every container of a run requests the CPU and memory that it may use, and every pod its local disk.",
        "quota counts requests: usage beyond them is taken from other pods on the node",
        "request CPU, memory and ephemeral-storage equal to their limits",
        "kueue v0.19.2 pkg/workload/resources.go; kubernetes v1.35.4 pkg/kubelet/eviction/eviction_manager.go",
    ),
    "controller": (
        "The cluster's own controllers manage a run, and nothing blocks its deletion.",
        "an owner, finalizer or other manager can keep the run for ever, or take it out of its queue",
        "remove the owner, finalizer or manager",
        "kubernetes v1.35 staging/src/k8s.io/apimachinery/pkg/apis/meta/v1/types.go",
    ),
}
"""By what they are about: title, why, fix, source."""

DIGEST = Rule(
    id="sec-digest",
    title="Images are named by digest.",
    why="a tag can point to another image between the pulls of two nodes, or before a restart",
    fix="name the image as repository@sha256:digest; the registry shows the digest of a tag",
    source="kubernetes/website v1.35 content/en/docs/concepts/containers/images.md",
    layer="run",
)
"""What the policy of that name holds for whatever is applied."""

RULES: Mapping[str, Rule] = {
    "digest": DIGEST,
    **{
        subject: Rule(f"{LAYER}/tenant-{subject}", title, why, fix, source, layer=LAYER)
        for subject, (title, why, fix, source) in WORDS.items()
    },
}
