"""What comes of a case: what the node offers, what became of each pod, and what is left."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.base.errors import SpecError
from trainyard.upstream.kubelet.accepted import refusal
from trainyard.upstream.kubelet.allocatable import binary
from trainyard.upstream.kubelet.cases import Case
from trainyard.upstream.kubelet.configuration import Invalid
from trainyard.upstream.kubelet.hints import Hints, Merge
from trainyard.upstream.kubelet.kubelet import Decision, Kubelet
from trainyard.upstream.kubelet.memory import UINT64, NodeMemory
from trainyard.upstream.kubelet.outcomes import Admitted, Crashed, Exploded, Given, Refused
from trainyard.upstream.kubelet.sets import members, text
from trainyard.upstream.pods.pod import Pod


def answer(value: Any) -> dict[str, Any]:
    """Return the answer to a document's case, as plain values; a case that cannot be read has only an `error`."""
    try:
        return _answer(Case.read(value))
    except SpecError as error:
        name = value.get("name") if isinstance(value, Mapping) else None
        return {"name": name or "", "error": str(error)}


def _answer(case: Case) -> dict[str, Any]:
    kubelet = Kubelet.start(
        case.machine, case.kubelet, name=case.node, labels=case.labels, storage=case.storage, release=case.release
    )
    if isinstance(kubelet, Invalid):
        return {"name": case.name, "invalid": {"stage": kubelet.stage, "message": kubelet.message}}
    memory = kubelet.managers.memory.nodes.values()
    out: dict[str, Any] = {
        "name": case.name,
        "warning": kubelet.configuration.warning,
        "allocatable": {name: str(amount) for name, amount in sorted(kubelet.node.allocatable.items())},
        "allocatableCPUs": text(kubelet.managers.cpus.allocatable) if kubelet.settings.static_cpus else "",
        "allocatableMemory": [_amounts(node, node.allocatable) for node in memory],
        "pods": list(_pods(kubelet, case)),
    }
    if out["pods"] and not any(pod["outcome"] in STUCK for pod in out["pods"]):
        out["left"] = _left(kubelet)
    return _filled(out)


STUCK = ("explodes", "crashes")


def _pods(kubelet: Kubelet, case: Case) -> Iterator[dict[str, Any]]:
    stuck = unknown = False
    arrived: set[str] = set()
    for step in case.steps:
        if "remove" in step:
            for name in step["remove"]:
                if name not in arrived:
                    raise SpecError(f"pod {name!r} is to be removed, but has not arrived; correct its name")
                if not stuck:
                    kubelet.remove(name)
            continue
        try:
            pod = Pod.read(step, release=kubelet.configuration.gates.minor)
        except ValueError as error:
            raise SpecError(f"pod cannot be read: {error}") from None
        arrived.add(pod.name)
        if (said := refusal(pod)) is not None:
            yield {"pod": pod.name, "outcome": "invalid", "message": said}
        elif stuck:
            yield {"pod": pod.name, "outcome": "unreached"}
        elif unknown or kubelet.waits_for_runtime(pod):
            unknown = True
            yield {"pod": pod.name, "outcome": "unknown"}
        else:
            decision = kubelet.admit(step)
            stuck = decision.stuck
            merges = decision.outcome.merges if case.explain else ()
            yield _filled({"pod": pod.name, **_decided(decision), "merges": [_merge(merge) for merge in merges]})


def _decided(decision: Decision) -> dict[str, Any]:
    outcome = decision.outcome
    out: dict[str, Any] = {
        "outcome": OUTCOMES[type(outcome)],
        "qos": decision.qos,
        "unschedulable": list(decision.unschedulable),
        "preempted": list(decision.preempted),
    }
    if isinstance(outcome, Exploded):
        return {**out, "explosion": _explosion(outcome)}
    if isinstance(outcome, Crashed):
        return {**out, "message": outcome.message}
    out["permutations"] = sum(merge.permutations for merge in outcome.merges)
    if isinstance(outcome, Refused):
        return {**out, "reason": outcome.reason, "message": outcome.message}
    return {**out, "containers": [container_answer(container) for container in outcome.containers]}


OUTCOMES = {Admitted: "admitted", Refused: "refused", Exploded: "explodes", Crashed: "crashes"}


def _explosion(outcome: Exploded) -> dict[str, Any]:
    return _filled({"permutations": outcome.permutations, "masks": outcome.masks, "endless": outcome.endless})


def _merge(merge: Merge) -> dict[str, Any]:
    hints = {name: None if hint is None else _hints(hint) for name, hint in merge.hints.items()}
    container = {"container": merge.container} if merge.container else {}
    return {**container, "permutations": merge.permutations, "hints": hints}


def _hints(hints: Hints) -> dict[str, Any]:
    masks = {"preferred": hints.preferred, "other": hints.other}
    return {name: [list(members(mask)) for mask in listed] for name, listed in masks.items() if listed}


def container_answer(got: Given) -> dict[str, Any]:
    """Return the devices, CPUs and memory that a container got."""
    return _filled(
        {
            "name": got.name,
            "affinity": list(members(got.affinity or 0)),
            "preferred": got.preferred,
            "cpus": text(got.cpus),
            "memoryNUMA": list(members(got.memory)),
            "devices": {name: sorted(ids) for name, ids in sorted(got.devices.items())},
        }
    )


def _left(kubelet: Kubelet) -> dict[str, Any] | None:
    managers = kubelet.managers
    nodes = managers.memory.nodes.values()
    out: dict[str, Any] = {}
    if kubelet.settings.static_cpus:
        out["cpus"] = text(managers.cpus.free)
    if nodes:
        out["memory"] = [_amounts(node, node.free) for node in nodes]
        out["groups"] = [list(members(node.tied)) for node in nodes]
    if kubelet.machine.devices:
        out["devices"] = {name: len(managers.devices.free(name)) for name in sorted(kubelet.machine.devices)}
    return out or None


def _amounts(node: NodeMemory, amounts: Mapping[str, int]) -> dict[str, str]:
    """Return the amounts of a NUMA node, as the kubelet's signed numbers."""
    there = ((name, amounts[name]) for name in sorted(amounts) if node.allocatable[name])
    return {name: str(binary(size - UINT64 if size >= UINT64 // 2 else size)) for name, size in there}


def _filled(out: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what says nothing: what is missing, false, zero or an empty list or text."""
    return {
        name: value for name, value in out.items() if value not in (None, False, 0, "") and value != [] and value != {}
    }
