"""Admission checks of a ClusterQueue are usable, and go together.

Why: Kueue sets a ClusterQueue inactive, and admits none of its jobs, if a check has no parameters of its kind. Two
 checks of MultiKueue do the same, as does one for some flavors. So does one beside a check that provisions nodes.
Fix: name the parameters of the check; keep one check of MultiKueue, for all flavors, and provision on the workers.
Source: kubernetes-sigs/kueue v0.19.2 pkg/cache/scheduler/clusterqueue.go updateWithAdmissionChecks, updateQueueStatus;
 pkg/util/admissioncheck/admissioncheck.go refValidForGK; pkg/controller/admissionchecks/multikueue/admissioncheck.go
"""

from collections.abc import Iterator

from trainyard.checks import Manifest, Place, Problem, World, did_you_mean

GROUP = "kueue.x-k8s.io"
MULTIKUEUE = "kueue.x-k8s.io/multikueue"
PROVISIONING = "kueue.x-k8s.io/provisioning-request"
PARAMETERS = {MULTIKUEUE: "MultiKueueConfig", PROVISIONING: "ProvisioningRequestConfig"}
"""By controller, the kind of the parameters without which it does nothing."""

NAMES = ("spec", "admissionChecksStrategy", "admissionChecks", "*", "name")


def check(world: World) -> Iterator[Problem]:
    """Look at every AdmissionCheck of Kueue's own controllers, and at what each ClusterQueue uses together."""
    checks = {item.name: item.text("spec", "controllerName") for item in world.of("AdmissionCheck", group=GROUP)}
    for queue in world.of("ClusterQueue", group=GROUP):
        yield from together(queue, checks)
    for item in world.of("AdmissionCheck", group=GROUP):
        if kind := PARAMETERS.get(checks[item.name]):
            yield from without_parameters(world, item, kind)
    clusters = {item.name for item in world.of("MultiKueueCluster", group=GROUP)}
    for config in world.of("MultiKueueConfig", group=GROUP) if world.complete else ():
        named = list(config.at("spec", "clusters", "*", of=str))
        if named and not clusters.intersection(name for _, name in named):
            message = (
                f"MultiKueueCluster {named[0][1]!r} does not exist, so queues with this configuration admit nothing"
            )
            yield Problem(Place(config, named[0][0]), f"{message}; {did_you_mean(named[0][1], clusters)}")


def together(queue: Manifest, checks: dict[str, str]) -> Iterator[Problem]:
    """Yield the first check of a queue that does not go with its others, or with its flavors."""
    used = [(path, name, checks.get(name)) for path, name in queue.at(*NAMES, of=str)]
    remote = [(path, name) for path, name, controller in used if controller == MULTIKUEUE]
    nodes = next((name for _, name, controller in used if controller == PROVISIONING), None)
    if len(remote) > 1:
        message = f"a ClusterQueue takes one check of MultiKueue, but {remote[0][1]!r} is one too; remove one of them"
        yield Problem(Place(queue, remote[1][0]), message)
    elif remote and nodes:
        message = f"check {nodes!r} provisions nodes here, and MultiKueue sends jobs elsewhere; use it on the workers"
        yield Problem(Place(queue, remote[0][0]), message)
    for path, name in remote[:1]:
        only = queue.get(*path[:-1], "onFlavors")
        flavors = {flavor for _, flavor in queue.at("spec", "resourceGroups", "*", "flavors", "*", "name", of=str)}
        if isinstance(only, list) and only and not flavors <= {*map(str, only)}:
            message = f"check {name!r} of MultiKueue must hold for all flavors; remove onFlavors"
            yield Problem(Place(queue, (*path[:-1], "onFlavors"), key=True), message)


def without_parameters(world: World, item: Manifest, kind: str) -> Iterator[Problem]:
    """Yield a check whose parameters are not those of its controller, or do not exist."""
    so = "so queues with this check admit nothing"
    if not item.text("spec", "parameters", "name"):
        yield Problem(Place(item, ("spec",), key=True), f"the check has no parameters, {so}; name a {kind}")
        return
    path = ("spec", "parameters", "kind")
    if item.text(*path) != kind or item.text("spec", "parameters", "apiGroup") != GROUP:
        yield Problem(Place(item, path), f"the parameters are no {kind} of {GROUP}, {so}; name one")
        return
    known = {found.name for found in world.of(kind, group=GROUP)}
    name = item.text("spec", "parameters", "name")
    if world.complete and name not in known:
        path = ("spec", "parameters", "name")
        yield Problem(Place(item, path), f"{kind} {name!r} does not exist, {so}; {did_you_mean(name, known)}")
