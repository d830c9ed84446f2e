"""Security contexts that pass Pod Security `restricted`, for every container of ours and, as defaults, of the job's.

Source: kubernetes/pod-security-admission v0.35 policy/check_*_restricted.go.
"""

from __future__ import annotations

from typing import Any

USER = 1000
"""User, group and file-system group; images for training mostly say root, which `restricted` refuses."""

USER_NAME = "trainer"
"""Programs ask for it: user 1000 mostly has no entry in the image's passwd, and then Python's getpass fails."""

HOME = "/tmp"  # noqa: S108 - writable in every image, where `/`, the home of an unknown user, is not
"""Where caches go that programs keep below the home directory."""


def pod(*, owns: bool = True) -> dict[str, Any]:
    """Return the pod's security context.

    The kubelet gives volumes the pod's group where it `owns` them, and walks through a big one only if its root has
    another (kubernetes v1.35 pkg/volume/volume_linux.go).
    """
    group = {"fsGroup": USER, "fsGroupChangePolicy": "OnRootMismatch"} if owns else {}
    return {
        "runAsNonRoot": True,
        "runAsUser": USER,
        "runAsGroup": USER,
        **group,
        "seccompProfile": {"type": "RuntimeDefault"},
    }


def container() -> dict[str, Any]:
    """Return a container's security context.

    A capability that RDMA wants would be gone at exec: runtimes keep none for users other than root.
    """
    return {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
