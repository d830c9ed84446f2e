"""How pods of a run find each other and reach the training fabric."""

from __future__ import annotations

from typing import Any

from trainyard.sizing import RoleSize
from trainyard.specs.run import Run


def locks_memory(run: Run, size: RoleSize) -> bool:
    """Whether the container needs IPC_LOCK: it has RDMA devices and its nodes do not lift the limit themselves."""
    fabric = run.cluster.fabric
    return bool(fabric and fabric.memlock == "capability" and "NCCL_NET" in size.env)


def headless(selector: dict[str, str], port: int) -> dict[str, Any]:
    """Return the spec of a Service that gives every selected pod a name, from its start on.

    Rank 0 must be found before it is ready: else its peers wait for a name that comes only when they are there.
    """
    ports = [{"name": "rendezvous", "port": port, "protocol": "TCP", "targetPort": port}]
    return {"clusterIP": "None", "publishNotReadyAddresses": True, "selector": selector, "ports": ports}
