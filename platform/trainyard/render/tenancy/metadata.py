"""Labels, annotations and the rest of metadata: what runs have of their own, and what controllers add to them.

Facts: gitops-kinds and Argo CD 3.2 on a real cluster; kueue v0.19.2 pkg/controller/constants, pkg/webhooks.
"""

from __future__ import annotations

import re

from trainyard.base.labels import (
    JOB,
    JOB_INDEX,
    JOB_NAME,
    MAX_TIME,
    MAY_BE_FORCED,
    NETWORKS,
    PRIORITY,
    QUEUE,
    RUN,
    SYNC_OPTIONS,
    SYNC_WAVE,
    TEAM,
)
from trainyard.render.kinds.job import EQUAL_COMPLETIONS, MIN_PARALLELISM
from trainyard.render.parts.gang import LABEL as POD_GROUP
from trainyard.render.parts.links import LINK, PAGES
from trainyard.render.parts.pods import STAY
from trainyard.render.tenancy.shapes import (
    ANY,
    KEPT,
    NEVER,
    SERVED,
    Condition,
    Fields,
    Listed,
    Pairs,
    Same,
    Shape,
    only,
)

KUEUE = "kueue.x-k8s.io"
CONTROLLERS = "controller"

DIGEST = "-[a-z2-7]{8}(-[a-z0-9]+)?"
"""Of a run's name what comes after its job's: the digest, and what tells runs of a step apart (`specs/run.py`)."""

_DIGEST = re.compile(DIGEST)


def is_run_of(name: str, job: str) -> bool:
    """Say whether a run of a job may be called so."""
    return name.startswith(job) and _DIGEST.fullmatch(name, len(job)) is not None


OF_JOB = Condition(
    lambda value, about: is_run_of(about.name, str(value)),
    f"object.metadata.name.startsWith({{x}}) && object.metadata.name.substring(size({{x}})).matches('^{DIGEST}$')",
    f"label {JOB} is {{name}}, but must be the run's name; remove it",
)

OF_NETWORKS = Condition(
    lambda value, about: isinstance(value, str) and set(value.split(",")) <= set(about.allowance.lists["networks"]),
    "{x}.split(',').all(n, n in variables.networks)",
    "networks are {name}, but not all belong to the fabric; set fabric: rdma instead",
    subject="label",
)
"""Secondary networks are the team's on the rails."""

OURS: dict[str, Shape] = {JOB: OF_JOB, RUN: Same("run"), TEAM: Same("team")}

IDENTITY = {"azure.workload.identity/use": only("true")}
"""By whose webhook a pod gets the identity of its service account (Azure/azure-workload-identity v1.5)."""

OF_OBJECTS = Pairs(
    {
        **OURS,
        QUEUE: Listed("queues", "queue"),
        PRIORITY: Listed("priorities", "priority"),
        MAX_TIME: ANY,
        "trainer.kubeflow.org/trainjob-ancestor-step": ANY,
        "ray.io/rayversion": ANY,
    },
    about={QUEUE: "queue", PRIORITY: "priority"},
    required=(JOB, RUN, TEAM),
)
OF_PODS = Pairs(
    {
        **OURS,
        **IDENTITY,
        POD_GROUP: Same("run"),
        QUEUE: Listed("queues", "queue"),
        PRIORITY: Listed("priorities", "priority"),
        JOB_NAME: ANY,
        JOB_INDEX: ANY,
        "batch.kubernetes.io/controller-uid": ANY,
        "trainer.kubeflow.org/trainjob-ancestor-step": ANY,
        **{f"{KUEUE}/{name}": ANY for name in ("podset", "cluster-queue-name", "local-queue-name", "tas")},
    },
    about={QUEUE: "queue", PRIORITY: "priority", POD_GROUP: "queue"},
)
"""With what Kueue writes into templates when it admits a run, which an update of the object has."""

SYNC = {SYNC_OPTIONS: only("ServerSideApply=true"), SYNC_WAVE: only("-1")}
"""What runs tell Argo CD: how a JobSet is applied, and that a runtime comes first."""

WRITTEN = (
    "argocd.argoproj.io/tracking-id",
    "kubectl.kubernetes.io/last-applied-configuration",
    "batch.kubernetes.io/job-tracking",
    "training.kubeflow.org/enable-scale-subresource",
)
"""What controllers write alone: by the first, policies know what Argo CD applies for the platform."""

LINKS = dict.fromkeys((f"{LINK}{page}" for page in PAGES), ANY)
"""Addresses at which people look at a run."""

NOTES_OF_OBJECTS = Pairs(
    {**SYNC, **LINKS, MIN_PARALLELISM: ANY, EQUAL_COMPLETIONS: ANY, **dict.fromkeys(WRITTEN, SERVED)},
    about=dict.fromkeys(SYNC, "label"),
)
PODSETS = (
    *("podset-required-topology", "podset-preferred-topology", "podset-unconstrained-topology", "podset-group-name"),
    *("podset-slice-required-topology", "podset-slice-size", "pod-index-offset", "workload", "pod-group-serving"),
    "pod-suspending-parent",
)
NOTES_OF_PODS = Pairs(
    {
        **{key: only(text) for key, text in STAY.items()},
        MAY_BE_FORCED: ANY,
        NETWORKS: OF_NETWORKS,
        **{f"{KUEUE}/{podset}": ANY for podset in PODSETS},
    },
    exact="pairs",
)

SERVER = ("creationTimestamp", "generation", "managedFields", "resourceVersion", "uid", "selfLink", "deletionTimestamp")
NAMES = ("deletionGracePeriodSeconds",)


def metadata(what: str, labels: Shape, annotations: Shape, *, required: tuple[str, ...] = (), **more: Shape) -> Fields:
    """Return the metadata of an object or of a template in one."""
    known: dict[str, Shape] = {"labels": labels, "annotations": annotations, **dict.fromkeys((*SERVER, *NAMES), ANY)}
    held: dict[str, Shape] = {"ownerReferences": KEPT, "finalizers": KEPT, "generateName": NEVER}
    about = {"labels": "label", "annotations": "label", **dict.fromkeys(held, CONTROLLERS)}
    return Fields(f"the metadata of {what}", {**known, **held, **more}, about, required)


OF_TEMPLATE = metadata("pods", OF_PODS, NOTES_OF_PODS, name=ANY, namespace=Same("namespace"))
OF_INNER = metadata("a job in it", OF_PODS, NOTES_OF_PODS, name=ANY, namespace=Same("namespace"))
"""Of what an object makes beside its pods: a JobSet's jobs, a runtime's JobSet."""

HELD = {"managedBy": "controller", "priorityClassName": "priority", "queue": "queue"}
"""What fields of workloads are about that say by whom, how urgently and where they are held."""
