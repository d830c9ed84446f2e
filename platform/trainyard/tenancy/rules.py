"""The rules of the statement, by what they are about: no waiver takes any of them away."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from trainyard.rules import Rule

LAYER: Final = "run"
LIST = "list it in platform/teams/<team>.yaml, or leave it out"
PLATFORM = "leave it out; what a run needs beyond, the platform gives by the cluster's file"
STANDARDS = "kubernetes/website v1.35 content/en/docs/concepts/security/pod-security-standards.md"
TYPES = "kubernetes v1.35 staging/src/k8s.io/api/core/v1/types.go"

WORDS: Mapping[str, tuple[str, str, str, str]] = {
    "object": (
        "A run is made of its own kinds of object, in its team's namespace, called as the run.",
        "an object of another kind, name or place is nobody's run, and may be anybody's",
        "put it below platform/extra, where the platform looks at it",
        "docs/security.md",
    ),
    "field": (
        "Objects of a run have the fields that runs may have.",
        "what nobody has looked at may reach beyond the team: other Services, volumes, clusters, controllers",
        PLATFORM,
        "docs/security.md",
    ),
    "label": (
        "Labels and annotations of a run are its own, plain words, or of groups that the repository lists.",
        "controllers obey labels and annotations: identities, networks, devices, secrets and syncs hang on them",
        "list its group in labels of platform/repository.yaml, or leave it out",
        "docs/security.md",
    ),
    "queue": (
        "A run waits in a queue that admits its team.",
        "another queue's quota is another team's",
        "name a queue that admits the team",
        "kueue v0.19.2 pkg/controller/constants/constants.go",
    ),
    "priority": (
        "A run has a priority that its team may have, and its pods none of their own.",
        "a higher one takes the nodes of other teams; a pod's own does so past the queue",
        "name a priority of the team's file by the job's priority",
        "kueue v0.19.2 pkg/controller/constants/constants.go; kubernetes v1.35 pkg/scheduler",
    ),
    "account": (
        "Pods of a run have a service account that the team lists, or no token.",
        "a token is its account's rights in the cluster, and its identity with the cloud",
        LIST,
        "kubernetes v1.35 plugin/pkg/admission/serviceaccount/admission.go",
    ),
    "secret": (
        "A run reads the Secrets that its team lists.",
        "others in the namespace belong to operators and registries, or to the platform",
        LIST,
        TYPES,
    ),
    "config": (
        "A run reads its own ConfigMap, and those that its team lists.",
        "others in the namespace are not the run's, and may go or change under it",
        LIST,
        TYPES,
    ),
    "volume": (
        "A run mounts what is its own: memory, scratch, its files, and the team's claims and Secrets.",
        "a volume of the network, the node or a driver reaches other teams' data past their claims",
        "mount a volume of the team's file",
        TYPES,
    ),
    "image": (
        "Every image of a run is from a registry that the repository allows.",
        "an image from elsewhere runs code that nobody vouches for",
        "push the image to an allowed registry, or list its registry in platform/repository.yaml",
        "docs/clusters.md",
    ),
    "service": (
        "Services of a run are headless.",
        "others take addresses: of the cluster (CVE-2020-8554), of nodes, of the world",
        "leave clusterIP None and the rest out",
        "kubernetes v1.35 staging/src/k8s.io/api/core/v1/types.go ServiceSpec",
    ),
    "affinity": (
        "Pods of a run keep near to or away from pods of their own namespace alone.",
        "a pod that shuns other teams' pods keeps them off its nodes, whatever their priority",
        "remove namespaces and namespaceSelector",
        "kubernetes v1.35 pkg/scheduler/framework/plugins/interpodaffinity",
    ),
    "place": (
        "Pods of a run get to nodes by their cluster's schedulers, past taints of its pools.",
        "a pod that names its node, or bears any taint, runs where no quota counts it",
        PLATFORM,
        "kubernetes v1.35 pkg/scheduler/framework/plugins/tainttoleration; nodename",
    ),
    "security": (
        "Containers of a run have no more rights than their team's Pod Security level gives, or the fabric asks for.",
        "from a node's root, every other team's memory, Secrets and claims are at hand",
        PLATFORM,
        STANDARDS,
    ),
    "host": (
        "Pods of a run share neither network, processes nor ports of their node, unless the fabric asks for it.",
        "on the node's network a pod is the node: no policy holds it, and the cloud's metadata answers it",
        PLATFORM,
        STANDARDS,
    ),
    "device": (
        "Containers of a run see the GPUs and NICs that they ask for, in the nodes' own runtime.",
        "a variable, an annotation or a runtime class gives devices of a node without quota, those of other teams too",
        "ask for GPUs by gpusPerNode and NICs by fabric; list a runtime class in runtimeClasses of the cluster",
        "NVIDIA/nvidia-container-toolkit v1.18 README.md; NVIDIA/k8s-device-plugin v0.20.0 README.md",
    ),
    "grace": (
        "Pods of a run end within the time that their cluster gives.",
        "whoever reclaims the nodes waits for as long as they end",
        "lower it, or raise longestGraceSeconds of the cluster's file",
        "kubernetes v1.35 staging/src/k8s.io/api/core/v1/types.go terminationGracePeriodSeconds",
    ),
    "resources": (
        "Every container of a run asks for the CPUs and memory that it may use, and each pod for its local disk.",
        "quota counts requests: what is used beyond is taken from others on the node",
        "request CPU, memory and ephemeral-storage, as much as their limits",
        "kueue v0.19.2 pkg/workload/resources.go; kubernetes v1.35.4 pkg/kubelet/eviction/eviction_manager.go",
    ),
    "controller": (
        "A run is managed by its cluster's own controllers, and held by nobody.",
        "an owner, a finalizer or another manager outlives the run, or takes it out of its queue",
        "remove it",
        "kubernetes v1.35 staging/src/k8s.io/apimachinery/pkg/apis/meta/v1/types.go",
    ),
}
"""By what they are about: title, why, fix, source."""

DIGEST = Rule(
    id="sec-digest",
    title="Images are named by digest.",
    why="a tag can come to mean another image between the pulls of two nodes, or before a restart",
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
