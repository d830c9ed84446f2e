"""Tries at the container that a fabric brings, root with its capabilities: to make it, or another, do more."""

from __future__ import annotations

from typing import Any

from tenant_crossings import SIDE, patched
from tenants import DAEMON
from trainyard.render.sizing.fabrics.gke import LIBRARIES
from trainyard.render.sizing.fabrics.gpudirect_tcpxo import OPTIONS, START

NAME = "tcpxo-daemon"


def daemon(**more: Any) -> dict[str, Any]:
    """Return a patch of the fabric's container."""
    return {"spec": {"initContainers": [{"name": NAME, **more}]}}


def another(**more: Any) -> dict[str, Any]:
    """Return a patch that adds a container of one's own."""
    return {"spec": {"containers": [{**SIDE, **more}]}}


def folder(**source: Any) -> dict[str, Any]:
    """Return a patch of the volume that the fabric's container loads its libraries from."""
    return {"spec": {"volumes": [{"name": "fabric-libraries", "hostPath": None, **source}]}}


ROOT: dict[str, Any] = {
    "image": DAEMON,
    "command": ["/bin/sh", "-c", f"{START} {OPTIONS}"],
    "securityContext": {
        "allowPrivilegeEscalation": False,
        "capabilities": {"add": ["NET_ADMIN", "NET_BIND_SERVICE"]},
        "runAsNonRoot": False,
        "runAsUser": 0,
    },
}
"""What the fabric's container is, as others may not be."""

FABRIC: dict[str, tuple[dict[str, Any], str]] = {
    "libraries from elsewhere": (daemon(env=[{"name": "LD_LIBRARY_PATH", "value": "/tmp"}]), "security"),
    "a library before all others": (daemon(env=[{"name": "LD_PRELOAD", "value": "/tmp/x.so"}]), "security"),
    "its log over a file of the node": (
        daemon(env=[{"name": "HEALTH_CHECK_LOG_FILE", "value": "/hostprocsysfs/kernel/core_pattern"}]),
        "security",
    ),
    "all variables of a Secret": (daemon(envFrom=[{"secretRef": {"name": "tokens"}}]), "field"),
    "a folder over its program": (
        daemon(volumeMounts=[{"name": "shared-memory", "mountPath": "/fts"}]),
        "security",
    ),
    "a folder over its libraries": (
        daemon(volumeMounts=[{"name": "shared-memory", "mountPath": LIBRARIES}]),
        "security",
    ),
    "a part of a folder": (
        daemon(volumeMounts=[{"name": "fabric-libraries", "mountPath": LIBRARIES, "subPath": "x"}]),
        "security",
    ),
    "the node's settings where it looks for programs": (
        daemon(volumeMounts=[{"name": "fabric-proc-sys", "mountPath": "/bin"}]),
        "security",
    ),
    "an empty folder for its libraries": (folder(emptyDir={}), "volume"),
    "a claim for its libraries": (folder(persistentVolumeClaim={"claimName": "checkpoints"}), "volume"),
    "an image for its libraries": (folder(image={"reference": DAEMON}), "volume"),
    "another folder of the node for its libraries": (folder(hostPath={"path": "/sys"}), "volume"),
    "another command": (daemon(command=["/bin/sh", "-c", "sleep 1d"]), "security"),
    "the same words cut otherwise": (daemon(command=["/bin/sh", "-c", "chmod", "755"]), "security"),
    "arguments": (daemon(args=["--port=1"]), "field"),
    "the command of its probe": (daemon(command=["cat", "/run/health-check"]), "security"),
    "another probe": (daemon(startupProbe={"exec": {"command": ["sh", "-c", "x"]}}), "security"),
    "a probe of its life": (daemon(livenessProbe={"exec": {"command": ["sh", "-c", "x"]}}), "field"),
    "a hook": (daemon(lifecycle={"postStart": {"exec": {"command": ["sh", "-c", "x"]}}}), "field"),
    "another folder to work in": (daemon(workingDir="/hostsysfs"), "field"),
    "a capability more": (daemon(securityContext={"capabilities": {"add": ["SYS_ADMIN"]}}), "field"),
    "all rights": (daemon(securityContext={"privileged": True}), "field"),
    "its image with a shell": (
        another(image=DAEMON, command=["bash"], securityContext={"runAsUser": 0, "runAsNonRoot": False}),
        "security",
    ),
    "its image as a user that may be root": (
        another(image=DAEMON, securityContext={"allowPrivilegeEscalation": True}),
        "security",
    ),
    "its image with a capability": (
        another(image=DAEMON, securityContext={**SIDE["securityContext"], "capabilities": {"add": ["NET_ADMIN"]}}),
        "security",
    ),
    "its image without a limit": (another(image=DAEMON, resources={"limits": {"memory": "1Ti"}}), "resources"),
    "a second one under another name": (
        {"spec": {"initContainers": [{**SIDE, **ROOT, "name": "another"}]}},
        "security",
    ),
    "one that an operator starts": (another(**ROOT), "security"),
    "one that an operator starts, by its name": (another(**ROOT, name=NAME), "security"),
    "its folders of the node in a container of one's own": (
        another(volumeMounts=[{"name": "fabric-proc-sys", "mountPath": "/x"}]),
        "volume",
    ),
    "its folders of the node by another name": (
        {"spec": {"volumes": [{"name": "mine", "hostPath": {"path": "/proc/sys"}}]}},
        "volume",
    ),
    "the folders of the node for a container of one's own": (
        {"spec": {"volumes": [{"name": "v", "hostPath": {"path": "/"}}]}},
        "volume",
    ),
}
"""Patches of pods on TCPXO, and what is refused."""

PATCHED: dict[str, tuple[dict[str, Any], str]] = {
    "its libraries": (
        patched(initContainers=[{"name": NAME, "env": [{"name": "LD_PRELOAD", "value": "/tmp/x.so"}]}]),
        "device",
    ),
    "its mounts": (
        patched(initContainers=[{"name": NAME, "volumeMounts": [{"name": "shared-memory", "mountPath": "/fts"}]}]),
        "device",
    ),
    "the folder of its libraries": (patched(volumes=[{"name": "fabric-libraries", "emptyDir": {}}]), "volume"),
}
"""Patches of the run's own runtime by its TrainJob on TCPXO, and what is refused."""
