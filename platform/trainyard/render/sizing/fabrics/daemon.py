"""The daemon that a pod needs beside its program where NICs write into GPUs' memory over TCP."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trainyard.render.sizing.fabrics.base import Share
from trainyard.render.sizing.fabrics.gke import LIBRARIES

REQUESTS = {"cpu": "2", "memory": "2Gi"}
"""What Kueue and the scheduler count for the daemon; assumed, upstream names nothing, so there is no limit."""

LOG = "/run/health-check"
"""What the daemon writes once it has begun; a name without underscores (gpudirect-tcpxo/best-practice.md)."""


def daemon(
    share: Share, name: str, command: Sequence[str], capabilities: Sequence[str], *mounts: dict[str, Any]
) -> dict[str, Any]:
    """Return the container: root with the capabilities that it needs, which starts first and ends with the program."""
    fabric = share.cluster.fabric
    return {
        "name": name,
        "image": fabric.daemon if fabric else None,
        "imagePullPolicy": "IfNotPresent",
        "restartPolicy": "Always",
        "command": list(command),
        "env": [{"name": "LD_LIBRARY_PATH", "value": LIBRARIES}],
        "resources": {"requests": dict(REQUESTS)},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"add": list(capabilities)},
            "runAsNonRoot": False,
            "runAsUser": 0,
        },
        "volumeMounts": [
            {"name": "fabric-libraries", "mountPath": LIBRARIES, "readOnly": True},
            {"name": "fabric-sys", "mountPath": "/hostsysfs"},
            {"name": "fabric-proc-sys", "mountPath": "/hostprocsysfs"},
            *mounts,
        ],
    }


def devices(share: Share, *more: str) -> str:
    """Return the devices that Google's injector gives the daemon, which asks for no GPU itself."""
    gpus = share.cluster.pools[share.pool_name].node.gpus
    cards = [f"/dev/nvidia{index}" for index in range(gpus.count if gpus else 0)]
    return "".join(f"- path: {path}\n" for path in (*cards, "/dev/nvidiactl", "/dev/nvidia-uvm", *more))
