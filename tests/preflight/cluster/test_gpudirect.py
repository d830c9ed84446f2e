"""What a file says of kernel and NIC driver is held against what GPUDirect needs."""

from __future__ import annotations

from typing import Any

import pytest

from everything import source
from make import make_cluster
from trainyard.judge.preflight.cluster.gpudirect import check, release_of

GPU_OPERATOR: dict[str, Any] = {"version": "26.7.0"}
PEERMEM = {**GPU_OPERATOR, "values": {"driver": {"rdma": {"enabled": True}}}}
SRIOV = {"sriov-network-operator": {"version": "1.6.0"}}

CASES: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any], list[tuple[str, str]]]] = {
    "nothing said": ({}, {}, {"gpu-operator": GPU_OPERATOR}, []),
    "a kernel that has it": ({"kernel": "5.12"}, {}, {"gpu-operator": GPU_OPERATOR}, []),
    "an old kernel": (
        {"kernel": "5.4.0-200-generic"},
        {},
        {"gpu-operator": GPU_OPERATOR},
        [("system.kernel", "kernel of 'h100' is 5.4.0-200-generic, but GPUDirect with DMA-BUF needs 5.12 or newer")],
    ),
    "an old kernel of the pool's own": (
        {"kernel": "6.8"},
        {"kernel": "5.10"},
        {"gpu-operator": {**GPU_OPERATOR, "managed": False}},
        [("pools.h100.system.kernel", "kernel of 'h100' is 5.10, but GPUDirect with DMA-BUF needs 5.12 or newer")],
    ),
    "an old kernel with peermem and its driver": (
        {"kernel": "5.4", "nicDriver": "doca"},
        {},
        {"gpu-operator": PEERMEM},
        [],
    ),
    "peermem beside the kernel's own driver": (
        {"nicDriver": "inbox"},
        {},
        {"gpu-operator": PEERMEM},
        [
            (
                "system.nicDriver",
                "gpu-operator loads nvidia-peermem, which needs DOCA or OFED, but nicDriver is 'inbox' for 'h100'",
            )
        ],
    ),
    "peermem beside nothing that is said": (
        {},
        {},
        {"gpu-operator": PEERMEM},
        [
            (
                "system.nicDriver",
                "gpu-operator loads nvidia-peermem, which needs DOCA or OFED, but nicDriver is not set for 'h100'",
            )
        ],
    ),
    "peermem with a driver that an operator brings": ({"nicDriver": "operator"}, {}, {"gpu-operator": PEERMEM}, []),
    "an old kernel with the vendor's driver, for which peermem is loaded": (
        {"kernel": "5.4", "nicDriver": "doca"},
        {},
        {"gpu-operator": GPU_OPERATOR},
        [],
    ),
}


@pytest.mark.parametrize(("system", "own", "operators", "expected"), CASES.values(), ids=CASES)
def test_what_gpudirect_needs(system, own, operators, expected):
    """An old kernel, and a module without its driver, would stage all traffic through the host without a word."""
    changes: dict[str, Any] = {
        "system": system,
        "pools": {"h100": {"shape": "dgx-h100", "nodes": 4, "system": own}},
        "fabric": {"type": "roce", "attach": "sriov", "addresses": "10.56.0.0/16", "pools": ["h100"]},
        "operators": {**operators, **SRIOV},
    }
    found = list(check(make_cluster(**changes), source(**changes)))
    assert [(item.path, item.message) for item in found] == expected
    assert all(item.rule == "gpu-dmabuf-prereq" and not item.is_error for item in found)


def test_off_the_fabric_a_kernel_may_be_old():
    """Nothing there reaches GPUs past the host."""
    changes: dict[str, Any] = {"system": {"kernel": "4.18"}, "operators": {"gpu-operator": GPU_OPERATOR}}
    assert list(check(make_cluster(**changes), source(**changes))) == []


KERNELS = {"5.12": (5, 12), "6.8.0-45-generic": (6, 8), "5.14.0-570.19.1.el9_6": (5, 14), "6.12+deb13": (6, 12)}


@pytest.mark.parametrize(("text", "release"), KERNELS.items())
def test_releases_are_numbers(text, release):
    """So that 5.4 is older than 5.12."""
    assert release_of(text) == release
