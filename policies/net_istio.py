"""Ranks that talk to each other have no proxy of a service mesh between them.

Why: Istio's proxy takes over every connection of the pod. Ranks connect to addresses of pods, at ports that no Service
 lists, and strict mTLS refuses that. Without native sidecars the job never ends.
Fix: add the label sidecar.istio.io/inject: "false" to the pod template.
Source: istio.io v1.27 docs/setup/additional-setup/sidecar-injection; kubeflow/trainer issues 2794, 1636
"""

from collections.abc import Iterator

from trainyard.checks import Manifest, Place, Pods, Problem, Severity, World, gangs, strings

SEVERITY = Severity.WARNING

INJECT = "sidecar.istio.io/inject"
REVISION = "istio.io/rev"

MEETING = {"PyTorchJob", "MPIJob", "JAXJob", "PaddleJob", "XGBoostJob", "TFJob", "TrainJob", "RayJob", "RayCluster"}
"""Kinds whose pods connect to each other; of others a launcher of several nodes tells it."""


def check(world: World) -> Iterator[Problem]:
    """Look at gangs in namespaces, and at pods, that ask for the proxy."""
    spaces = {item.name: item for item in world.of("Namespace", group="") if injects(item)}
    for job in world.training_jobs():
        sets = [pods for pods in job.pod_sets() if pods.count]
        if sum(pods.count for pods in sets) < 2:
            continue
        for pods in sets:
            if gets_proxy(pods, inside=job.namespace in spaces) and (job.manifest.kind in MEETING or any(gangs(pods))):
                message = f"Istio's proxy stands between the ranks; label the pods {INJECT}: 'false'"
                yield Problem(Place(pods.manifest, (*pods.template, "metadata", "labels"), key=True), message)
                break


def injects(namespace: Manifest) -> bool:
    """Say whether pods of a namespace get the proxy unless they say otherwise."""
    said = namespace.labels.get("istio-injection")
    return said == "enabled" or (said is None and bool(namespace.labels.get(REVISION)))


def gets_proxy(pods: Pods, *, inside: bool) -> bool:
    """Say whether pods get the proxy: their label, or the older annotation, decides over their namespace."""
    labels = strings(pods.manifest.get(*pods.template, "metadata", "labels"))
    said = labels.get(INJECT) or pods.annotations.get(INJECT)
    return said == "true" if said else inside
