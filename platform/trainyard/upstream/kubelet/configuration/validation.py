"""What the kubelet has against a configuration, in its words and order.

Source: kubernetes v1.35.4 pkg/kubelet/apis/config/validation, on Linux with cgroup v2, and what differs in other
minors. Not looked at: logging, tracing, and whether the pattern of an image names one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from trainyard.upstream.kubelet.configuration import amounts, choices, later, node
from trainyard.upstream.kubelet.configuration.gates import Gates

Check = Callable[[Mapping[str, Any], Gates], Iterator[str]]

CHECKS: tuple[Check, ...] = (
    amounts.check_limits,
    later.check_sysctls,
    later.check_oldest,
    amounts.check_pulls,
    node.bad_taints,
    node.check_taints,
    choices.check_topology,
    choices.check_shutdown,
    choices.check_restarts,
    choices.check_enforcement,
    choices.check_names,
    node.check_reservations,
    node.check_namespaces,
    node.bad_metrics,
    later.check_factor,
    amounts.check_throttling,
    later.check_memory,
    amounts.check_logs,
)

OTHER_WORDS = (node.bad_taints, node.bad_metrics)
"""Whose messages do not start as the others do."""


def problems(configuration: Mapping[str, Any], gates: Gates) -> list[str]:
    """Return everything that is wrong with a configuration that has its defaults; of a valid one, nothing."""
    found = list(gates.problems)
    for check in CHECKS:
        start = "" if check in OTHER_WORDS else "invalid configuration: "
        found += [start + said for said in check(configuration, gates)]
    return list(dict.fromkeys(found))
