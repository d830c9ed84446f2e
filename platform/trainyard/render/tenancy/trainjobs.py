"""TrainJobs: which runtime they name, what they say of its trainer, and what they patch.

Its pods are those of a runtime: the run's own, which is judged as the pods in it are, or one of the platform's, of
which the TrainJob says the sizes itself. What it says may not take away why a container of the runtime was right.
Facts: trainer v2.3.0 pkg/apis/trainer/v1alpha1/trainjob_types.go; kueue v0.19.2 pkg/controller/jobs/trainjob.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.base.labels import NETWORKS
from trainyard.render.tenancy import attached, disks, placing, pods
from trainyard.render.tenancy.amounts import COVERS
from trainyard.render.tenancy.devices import SAID, asks, has_gpus_cel
from trainyard.render.tenancy.fabric import of
from trainyard.render.tenancy.images import IMAGE
from trainyard.render.tenancy.metadata import HELD, OF_INNER
from trainyard.render.tenancy.rights import inner
from trainyard.render.tenancy.shapes import ANY, About, Condition, Elsewhere, Fields, Items, only
from trainyard.render.tenancy.variables import GPUS, SECRET, VARIABLE
from trainyard.upstream.workloads.runtimes import CLUSTER_WIDE, NODE, RUNTIME
from trainyard.upstream.workloads.runtimes import TRAINER as GROUP

CONTROLLER = f"{GROUP}/trainjob-controller"


def is_own(value: Any, about: About) -> bool:
    """Whether a reference is to the run's own runtime, which is called as the run."""
    return isinstance(value, Mapping) and (value.get("kind"), value.get("name")) == (RUNTIME, about.name)


def has_runtime(value: Any, about: About) -> bool:
    """Whether a reference is to the run's own runtime, or to one that the team may name."""
    known = about.allowance.lists["runtimes"]
    return is_own(value, about) or f"{value.get('kind') or CLUSTER_WIDE}/{value.get('name')}" in known


IS_OWN = f"({{x}}.?kind.orValue('') == '{RUNTIME}' && {{x}}.name == object.metadata.name)"
REFERENCE = Fields(
    "a reference to a runtime",
    {"apiGroup": only(GROUP), "kind": only(RUNTIME, CLUSTER_WIDE), "name": ANY},
    required=("name",),
    conditions=(
        Condition(
            has_runtime,
            f"{IS_OWN} || {{x}}.?kind.orValue('{CLUSTER_WIDE}') + '/' + {{x}}.name in variables.runtimes",
            "runtime {name} belongs neither to the run nor to the team; use another",
            "object",
            ("name",),
        ),
    ),
)

RESOURCES = Fields("resources", dict.fromkeys(("claims", "limits", "requests"), ANY), conditions=(COVERS, disks.COVERS))
"""Of a TrainJob's nodes, which take the place of those of its runtime's container."""
STARTER = Fields(
    "an initializer",
    {"storageUri": ANY, "env": Items(VARIABLE), "secretRef": Fields("a reference", {"name": SECRET})},
    {"secretRef": "secret"},
)
TRAINER = Fields(
    "a trainer",
    {
        **dict.fromkeys(("args", "command", "numNodes", "numProcPerNode"), ANY),
        "env": Items(VARIABLE),
        "image": IMAGE,
        "resourcesPerNode": RESOURCES,
    },
    {"image": "image"},
)


def patch(**more: Any) -> Fields:
    """Return the shape of a part of a patch."""
    return Fields("a patch of the runtime", more)


OF_JOB = patch(metadata=OF_INNER, spec=patch(template=Elsewhere(pods.PATCH)))
OF_JOBSET = patch(metadata=OF_INNER, spec=patch(replicatedJobs=Items(patch(name=ANY, template=OF_JOB))))
PATCH = patch(manager=ANY, time=ANY, trainingRuntimeSpec=patch(template=OF_JOBSET))


def patched_selectors(value: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the jobs of a runtime whose pods patches speak of, each with the node selector that they give these."""
    for patch in of(value, "runtimePatches"):
        for job in of(inner(inner(inner(patch, "trainingRuntimeSpec"), "template"), "spec"), "replicatedJobs"):
            body = inner(inner(inner(inner(job, "template"), "spec"), "template"), "spec")
            yield str(job.get("name")), inner(body, "nodeSelector")


def is_sized(value: Any, about: About) -> bool:
    """Whether it says itself what the nodes of the platform's runtime ask for."""
    return is_own(inner(value, "runtimeRef"), about) or bool(inner(inner(value, "trainer"), "resourcesPerNode"))


def sees_its_own(value: Any, about: About) -> bool:
    """Whether resources that it gives to the trainer have GPUs, or the trainer says that it sees none.

    A patch may say that nodes of the platform's runtime are on a pool without any.
    """
    trainer, lists = inner(value, "trainer"), about.allowance.lists
    given = inner(trainer, "resourcesPerNode")
    if (
        not lists[placing.POOLS]
        or not given
        or asks(given)
        or any(variable.get("name") == GPUS for variable in of(trainer, "env"))
    ):
        return True
    found = [*patched_selectors(value)]
    far = any(job == NODE and placing.is_far(selector, lists) for job, selector in found)
    return (
        far
        and not any(placing.is_near(selector, lists) for _, selector in found)
        and not is_own(inner(value, "runtimeRef"), about)
    )


def stays(value: Any, about: About) -> bool:
    """Whether no patch gets the pods of the run's own runtime to GPUs: what is right elsewhere may not be there."""
    near = any(placing.is_near(selector, about.allowance.lists) for _, selector in patched_selectors(value))
    return not is_own(inner(value, "runtimeRef"), about) or not near


def is_attached(notes: Mapping[str, Any], about: About) -> bool:
    """Whether annotations attach pods to a fabric whose devices have to be requested."""
    return attached.is_attached(notes, about) or (bool(about.allowance.lists["rails"]) and NETWORKS in notes)


def has_devices(value: Any, about: About) -> bool:
    """Whether a patch attaches the trainer's pods alone to the fabric, and the trainer requests what that needs.

    Pods of the run's own runtime say it there, beside their containers.
    """
    limits = [inner(inner(inner(value, "trainer"), "resourcesPerNode"), "limits")]
    found = [(job, notes) for job, notes in attached.patched_jobs(value) if is_attached(notes, about)]
    return not found or (
        not is_own(inner(value, "runtimeRef"), about)
        and all(
            job == NODE
            and (not attached.is_attached(notes, about) or attached.has_whole_node(limits, about))
            and attached.has_devices(notes, limits, about)
            for job, notes in found
        )
    )


IS_OWN_OF = IS_OWN.replace("{x}", "{x}.runtimeRef")
JOBS = "p.?trainingRuntimeSpec.?template.?spec.?replicatedJobs.orValue([])"
OF_JOBS = "j.?template.?spec.?template.?spec"
NEAR = f"{JOBS}.exists(j, isNear({OF_JOBS}))"
FAR = f"{JOBS}.exists(j, j.?name.orValue('') == '{NODE}' && isNamed({OF_JOBS}))"
PATCHES = "{x}.?runtimePatches.orValue([])"
GIVEN = "{x}.?trainer.?resourcesPerNode"
NOTES = "j.?template.?spec.?template.?metadata.?annotations.orValue({})"
GIVEN_LIMITS = f"[{GIVEN}.?limits.orValue({{}})]"
HAS_DEVICES = (
    f"{PATCHES}.all(p, {JOBS}.all(j, !({attached.cel_attached(NOTES)} || "
    f"(size(variables.rails) > 0 && '{NETWORKS}' in {NOTES})) || (!{IS_OWN_OF} && j.?name.orValue('') == '{NODE}' && "
    f"(!{attached.cel_attached(NOTES)} || {attached.cel_whole(GIVEN_LIMITS)}) && "
    f"{attached.cel_devices(NOTES, GIVEN_LIMITS)})))"
)
BEFORE = "dyn(oldObject).?spec.?runtimePatches.orValue([])"

TRAINJOB = Fields(
    "a TrainJob",
    {
        **dict.fromkeys(("activeDeadlineSeconds", "suspend"), ANY),
        "initializer": Fields("an initializer", {"dataset": STARTER, "model": STARTER}),
        "managedBy": only(CONTROLLER),
        "runtimePatches": Items(PATCH),
        "runtimeRef": REFERENCE,
        "trainer": TRAINER,
    },
    HELD,
    required=("runtimeRef",),
    conditions=(
        Condition(
            is_sized,
            f"{IS_OWN_OF} || {GIVEN}.hasValue()",
            "a TrainJob on the platform's runtime needs resourcesPerNode; remove the patch",
            "resources",
            ("trainer",),
        ),
        Condition(
            sees_its_own,
            f"size(variables.gpupools) == 0 || !{GIVEN}.hasValue() || "
            f"({GIVEN}.?limits.hasValue() && {has_gpus_cel('{x}.trainer.resourcesPerNode.limits')}) || "
            f"{{x}}.trainer.?env.orValue([]).exists(e, e.name == '{GPUS}') || "
            f"(!{IS_OWN_OF} && {PATCHES}.exists(p, {FAR}) && !{PATCHES}.exists(p, {NEAR}))",
            SAID,
            "device",
            ("trainer",),
        ),
        Condition(
            stays,
            f"!{IS_OWN_OF} || {PATCHES}.all(p, !{NEAR} || (oldObject != null && p in {BEFORE}))",
            "a patch moves pods of the run's runtime to a pool with GPUs; set the pool in the runtime",
            "device",
            ("runtimePatches",),
        ),
        Condition(
            has_devices,
            HAS_DEVICES,
            "a patch attaches pods to the fabric without its devices; request them in resourcesPerNode",
            "device",
            ("runtimePatches",),
        ),
    ),
)
