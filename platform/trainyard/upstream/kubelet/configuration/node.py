"""What a configuration says of its node that cannot be: taints, CPUs and memory that are kept, user namespaces."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.upstream.kubelet.configuration.cpulist import parse
from trainyard.upstream.kubelet.configuration.gates import Gates
from trainyard.upstream.kubelet.configuration.words import quote
from trainyard.upstream.pods.resources import MEMORY, is_huge_page

PREVIOUS_MINOR = "1.34"
USER_NAMESPACE = 65536
TAINT_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")

NAME = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
DOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")


def check_taints(c: Mapping[str, Any], _gates: Gates) -> Iterator[str]:
    """Yield taints with which the node cannot register; this one comes without the words before the others."""
    for taint in c.get("registerWithTaints") or ():
        if taint.get("timeAdded") is not None:
            yield "taint.TimeAdded is not nil"


def bad_taints(c: Mapping[str, Any], _gates: Gates) -> Iterator[str]:
    """Yield taints that no node can have."""
    for taint in c.get("registerWithTaints") or ():
        key, value, effect = (taint.get(name) or "" for name in ("key", "value", "effect"))
        domain, slash, name = key.rpartition("/")
        well = (
            len(name) <= 63
            and NAME.fullmatch(name)
            and (not slash or (DOMAIN.fullmatch(domain) and len(domain) <= 253))
        )
        if (
            not well
            or (value and not (len(value) <= 63 and NAME.fullmatch(value)))
            or effect not in ("", *TAINT_EFFECTS)
        ):
            yield f"invalid taint: {{{key} {value} {effect} <nil>}}"


def check_reservations(c: Mapping[str, Any], _gates: Gates) -> Iterator[str]:
    """Yield CPUs and memory that cannot be kept for the system."""
    listed = c["reservedSystemCPUs"]
    if listed:
        if c["systemReservedCgroup"] or c["kubeReservedCgroup"]:
            yield (
                "can't use reservedSystemCPUs (--reserved-cpus) with systemReservedCgroup (--system-reserved-cgroup) "
                "or kubeReservedCgroup (--kube-reserved-cgroup)"
            )
        try:
            parse(listed)
        except ValueError as error:
            yield f"unable to parse reservedSystemCPUs (--reserved-cpus) {listed}, error: {error}"
    seen: set[tuple[int, str]] = set()
    for reservation in c.get("reservedMemory") or ():
        node = reservation.get("numaNode") or 0
        for name, amount in sorted((reservation.get("limits") or {}).items()):
            where = f"NUMA node {node}"
            if name != MEMORY and not is_huge_page(name):
                only = "only [memory hugepages-<HugePageSize>] is accepted"
                yield f"the limit type {quote(name)} for {where} is not supported, {only}"
            if not amount:
                yield f"reserved memory may not be zero for {where} and resource {quote(name)}"
            if (node, name) in seen:
                yield f"the reserved memory has a duplicate value for {where} and resource {quote(name)}"
            seen.add((node, name))


def check_namespaces(c: Mapping[str, Any], _gates: Gates) -> Iterator[str]:
    """Yield sizes of user namespaces that are none, and metrics of any but the last minor."""
    ids = (c.get("userNamespaces") or {}).get("idsPerPod")
    field = "userNamespaces.idsPerPod must"
    if ids is not None and ids < USER_NAMESPACE:
        yield f"{field} not be less than {USER_NAMESPACE}"
    elif ids is not None and ids % USER_NAMESPACE:
        yield f"{field} be a multiple of {USER_NAMESPACE}"
    elif ids is not None and ids > 2**32 - 1:
        yield f"{field} not be more than {2**32 - 1}"


def bad_metrics(c: Mapping[str, Any], _gates: Gates) -> Iterator[str]:
    """Yield a release of hidden metrics that is not the one before."""
    if c["showHiddenMetricsForVersion"] not in ("", PREVIOUS_MINOR):
        yield (
            f"--show-hidden-metrics-for-version must be omitted or have the value '{PREVIOUS_MINOR}'. "
            "Only the previous minor version is allowed"
        )
