"""An init container must not wait for a port of its own job's first pod in all pods.

Why: The first pod has the same init container. It waits there for a port that its own trainer opens afterwards. So
 no pod of the job ever starts.
Fix: remove the init container, since launchers wait for each other; or let pod 0 skip it.
Source: kubernetes v1.35 pkg/kubelet/kuberuntime/kuberuntime_container.go computeInitContainerActions; pytorch v2.9
 torch/distributed/elastic/rendezvous/dynamic_rendezvous.py
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.checks import Place, Pods, Problem, TrainingJob, World

WAITS = re.compile(r"\b(until|while|wait-for(-it)?(\.sh)?|wait4x|dockerize)\b")
PORT = re.compile(r"\bnc\b|/dev/tcp/|\bncat\b|\btelnet\b|\bcurl\b|\bwget\b|wait-for|wait4x|-wait\b|\bconnect\b")
"""What asks a port: a name alone may resolve before the pod is ready."""

SKIPS = re.compile(r"INDEX|RANK|HOSTNAME|hostname|\$\{?POD_NAME|ORDINAL")
"""By which a script tells the first pod from the others."""

FIRST = {"Job": r"{name}-0\.", "JobSet": r"{name}-[\w-]+-0-0\.", "PyTorchJob": r"{name}-master-0\b"}


def check(world: World) -> Iterator[Problem]:
    """Look at the init containers of jobs of several pods, where each kind's first pod has a name."""
    for job in world.training_jobs():
        if job.manifest.kind not in FIRST or not job.name:
            continue
        first = re.compile(rf"(?<![\w.-]){FIRST[job.manifest.kind].format(name=re.escape(job.name))}")
        for pods in job.pod_sets():
            if pods.count and has_first(job, pods):
                yield from waiting(pods, first)


def has_first(job: TrainingJob, pods: Pods) -> bool:
    """Whether the first pod is one of these; those of a JobSet are told apart by their role."""
    return job.manifest.kind != "PyTorchJob" or pods.name == "master"


def waiting(pods: Pods, first: re.Pattern[str]) -> Iterator[Problem]:
    """Yield the init containers in which all pods wait for a port of the first one."""
    for path, container in pods.manifest.at(*pods.template, "spec", "initContainers", "*", of=dict):
        said = list(words(container))
        text = " ".join(said)
        named = first.search(text)
        role = pods.manifest.get(*pods.template[:-3], "name") if pods.manifest.kind == "JobSet" else None
        own = named is not None and (not isinstance(role, str) or f"-{role}-0-0" in named[0])
        if not own or SKIPS.search(text) or container.get("restartPolicy") == "Always":
            continue
        if WAITS.search(text) and PORT.search(text):
            at = next(index for index, word in enumerate(said) if named and named[0] in word)
            field = "command" if at < len(container.get("command") or ()) else "args"
            index = at if field == "command" else at - len(container.get("command") or ())
            message = "the first pod waits here for itself, since it has this init container too"
            yield Problem(Place(pods.manifest, (*path, field, index)), f"{message}; remove it")


def words(container: Mapping[str, Any]) -> Iterator[str]:
    """Yield the words of a container's command line."""
    for field in ("command", "args"):
        found = container.get(field)
        yield from map(str, found if isinstance(found, list) else ())
