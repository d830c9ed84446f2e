"""What forms of node settings are made of: the needs of a pool, and files that several distributions read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from trainyard.base.documents import Path, dump
from trainyard.render.parts.network import ENDLESS
from trainyard.render.parts.objects import PlainFile, canonical

KUBELET_API = {"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration"}
"""Without these two the kubelet refuses a drop-in (kubernetes v1.35 cmd/kubelet/app/server.go)."""

DROP_IN = "20-trainyard.conf"
"""The kubelet reads `*.conf` alone, in the order of names (kubernetes v1.35 cmd/kubelet/app/server.go)."""

PATCH = "kubeletconfiguration20-trainyard+merge.yaml"
"""`target[suffix][+patchtype].extension` (kubernetes v1.35 cmd/kubeadm/app/util/patches/patches.go)."""

UNIT_LIMIT = "10-trainyard-memlock.conf"
CRIO_LIMIT = "10-trainyard.conf"

LOAD = "/etc/modules-load.d/trainyard.conf"
BLOCK = "/etc/modprobe.d/trainyard.conf"
PAGES = "/etc/sysctl.d/trainyard.conf"
"""Settings of the kernel; files whose names begin with a number come before (sysctl.d(5)), the EFA installer's too."""

PAGES_SETTING = "vm.nr_hugepages"
"""Number of huge pages of the default size, which is 2 MiB (Linux, admin-guide/mm/hugetlbpage)."""

DEVICE_RULES = "70-amdgpu.rules"
OPEN = ('KERNEL=="kfd", MODE="0666"', 'SUBSYSTEM=="drm", KERNEL=="renderD*", MODE="0666"')
"""Rules after those of the distribution, which may give the files to group render alone (50-udev-default.rules)."""


@dataclass(frozen=True, slots=True)
class Needs:
    """What the nodes of a pool must be given."""

    pool: str
    runtime: str
    kubelet: Mapping[str, Any] | None
    """Fields of its KubeletConfiguration; None where the kubelet is not ours to set."""
    memlock: bool
    """Whether containers must be able to lock all memory: RDMA locks its buffers."""
    open_devices: bool
    """Whether every user is to open the device files of AMD's GPUs."""
    load: tuple[str, ...] = ()
    """Kernel modules that are loaded when the node starts."""
    block: tuple[str, ...] = ()
    """Kernel modules that are not loaded for a device."""
    selector: Mapping[str, str] = field(default_factory=dict)
    """The labels that select the nodes."""
    pages: int = 0
    """Huge pages of 2 MiB that the node sets aside before the kubelet starts, which counts them once."""
    stripe: bool = False
    """Whether these files put the kubelet's folder onto the local disks."""
    version: str | None = None
    """Release of the distribution, where its releases read files of different forms."""

    @property
    def at(self) -> Path:
        """The pool in the cluster's file."""
        return ("pools", self.pool)

    @property
    def kubelet_at(self) -> Path:
        """The kubelet's settings in the cluster's file."""
        return (*self.at, "kubelet")

    @property
    def any(self) -> bool:
        """Whether there is anything to give."""
        return (
            self.kubelet is not None or self.memlock or self.open_devices or bool(self.load or self.block or self.pages)
        )


MEMLOCK_AT: Path = ("fabric", "memlock")


UNLIMITED = "[Service]\nLimitMEMLOCK=infinity\n"
"""Containers inherit the limit of the unit that starts the runtime; systemd's own is 8 MiB."""

CRIO_UNLIMITED = '[crio.runtime]\ndefault_ulimits = [\n  "memlock=-1:-1",\n]\n'
"""cri-o docs/crio.conf.5.md; the list takes the place of the same in drop-ins before it."""


def kubelet_drop_in(needs: Needs, folder: str) -> Iterator[PlainFile]:
    """Yield the kubelet's settings as a drop-in of a folder."""
    if needs.kubelet is not None:
        text = write_yaml({**KUBELET_API, **needs.kubelet})
        yield PlainFile(DROP_IN, add_comment(f"{folder}/{DROP_IN}", text), needs.kubelet_at)


def runtime_limit(needs: Needs, unit: str, server: str = "") -> Iterator[PlainFile]:
    """Yield the files that lift the limit on locked memory, for the runtime or the unit that starts it.

    On servers of some distributions another unit starts it.
    """
    if needs.memlock and needs.runtime == "cri-o":
        path = f"/etc/crio/crio.conf.d/{CRIO_LIMIT}"
        yield PlainFile(f"crio-{CRIO_LIMIT}", add_comment(path, CRIO_UNLIMITED), MEMLOCK_AT)
    elif needs.memlock:
        path = f"/etc/systemd/system/{unit}.d/{UNIT_LIMIT}"
        on_server = f"# on a server: /etc/systemd/system/{server}.d/{UNIT_LIMIT}\n" if server else ""
        yield PlainFile(UNIT_LIMIT, add_comment(path, on_server + UNLIMITED), MEMLOCK_AT)


def device_rules(needs: Needs) -> Iterator[PlainFile]:
    """Yield the rules by which every user opens the GPUs, as a file for udev."""
    if needs.open_devices:
        text = add_comment(f"/etc/udev/rules.d/{DEVICE_RULES}", "\n".join([*OPEN, ""]))
        yield PlainFile(DEVICE_RULES, text, (*needs.at, "deviceAccess"))


def kernel_texts(needs: Needs) -> dict[str, str]:
    """Return the files by which systemd and modprobe are told of kernel modules and huge pages: path -> text.

    modules-load.d(5), modprobe.d(5) and sysctl.d(5): one module or setting a line.
    """
    blocked = [f"blacklist {module}" for module in needs.block]
    pages = [f"{PAGES_SETTING} = {needs.pages}"] if needs.pages else []
    texts = {LOAD: needs.load, BLOCK: blocked, PAGES: pages}
    return {path: "\n".join([*lines, ""]) for path, lines in texts.items() if lines}


def kernel_files(needs: Needs) -> Iterator[PlainFile]:
    """Yield files for the kernel modules that a node loads or must not load, and for its huge pages."""
    for path, text in kernel_texts(needs).items():
        folder, _, name = path.rpartition("/")
        yield PlainFile(f"{folder.rpartition('/')[2].removesuffix('.d')}-{name}", add_comment(path, text), needs.at)


def rlimit() -> dict[str, Any]:
    """Return a limit of the OCI runtime specification."""
    return {"type": "RLIMIT_MEMLOCK", "soft": ENDLESS, "hard": ENDLESS}


def write_yaml(value: Mapping[str, Any]) -> str:
    """Return a value as YAML, without None."""
    return dump(canonical(value), sort_keys=True)


def add_comment(comment: str, text: str) -> str:
    """Return a text that begins with where it goes."""
    return f"# {comment}\n{text}"
