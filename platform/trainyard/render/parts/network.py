"""How pods of a run find each other and reach the training fabric."""

from __future__ import annotations

from typing import Any

from trainyard.base.labels import ULIMITS
from trainyard.render.sizing import RoleSize
from trainyard.render.sizing.fabrics import fabric_type
from trainyard.specs.run import Run

ENDLESS = 2**63 - 1
"""Bytes of locked memory where a number is asked for: the most that every reader of JSON and YAML takes."""

UNLIMITED = f"- {{type: RLIMIT_MEMLOCK, soft: {ENDLESS}, hard: {ENDLESS}}}\n"
"""What the annotation says that lets a container lock all memory."""


def limits(run: Run, size: RoleSize, container: str) -> dict[str, str]:
    """Return the annotation by which the nodes' NRI plugin lets a container lock memory, where the cluster says so."""
    fabric, on = run.cluster.fabric, bool(size.fabric.devices) or size.fabric.host
    if fabric is None or fabric.memlock != "nri" or not (on and fabric_type(run.cluster).locks_memory):
        return {}
    return {f"{ULIMITS}{container}": UNLIMITED}


def of_node(size: RoleSize) -> dict[str, Any]:
    """Return the fields that put a pod into the node's network, and still let it resolve the cluster's names.

    Without the DNS policy the node's resolver is asked, which knows no rank (kubernetes v1.35
    pkg/kubelet/network/dns/dns.go).
    """
    return {"hostNetwork": True, "dnsPolicy": "ClusterFirstWithHostNet"} if size.fabric.host else {}


def headless(selector: dict[str, str], port: int) -> dict[str, Any]:
    """Return the spec of a Service that gives every selected pod a name, from its start on.

    Rank 0 must be found before it is ready: else its peers wait for a name that comes only when they are there.
    """
    ports = [{"name": "rendezvous", "port": port, "protocol": "TCP", "targetPort": port}]
    return {"clusterIP": "None", "publishNotReadyAddresses": True, "selector": selector, "ports": ports}
