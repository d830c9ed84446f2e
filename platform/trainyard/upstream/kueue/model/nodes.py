"""Nodes, and pods that run beside the queues."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trainyard.upstream.kueue.model.amounts import Amounts
from trainyard.upstream.pods.taints import Taint


@dataclass(frozen=True, slots=True)
class Node:
    """A node as topologies see it; without a host name label it has its own name, and takes 110 pods."""

    name: str
    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    unschedulable: bool
    ready: bool
    allocatable: Amounts


@dataclass(frozen=True, slots=True)
class RunningPod:
    """A pod that is there from the start, whoever made it."""

    namespace: str
    name: str
    node: str
    spec: Mapping[str, Any]
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    phase: str
