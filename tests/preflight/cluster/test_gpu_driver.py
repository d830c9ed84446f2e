"""A driver that does not support the GPUs of a pool is an error, before any job waits for them."""

from __future__ import annotations

from typing import Any

import pytest

from everything import source
from make import CPU_NODE, fields, make_cluster
from trainyard.judge.preflight.cluster.gpu_driver import check

GPU = {"gpu-operator": {"version": "26.7.0"}}
OLD = {"gpu-operator": {"version": "26.7.0", "values": {"driver": {"version": "550.163.01"}}}}
ROCE: dict[str, Any] = {"type": "roce", "rails": 8, "attach": "sriov", "addresses": "10.56.0.0/16", "pools": ["h100"]}
H100: dict[str, Any] = {"shape": "dgx-h100", "nodes": 2}
V580 = {"gpuDriverVersion": "580.126.20"}


def pool(product: str, **changes: Any) -> dict[str, Any]:
    """Return a pool with GPUs of a product."""
    gpus = {"count": 8, "vendor": "nvidia", "product": product, "memory": "32Gi"}
    return {"shape": fields(CPU_NODE, {"gpus": gpus}), "nodes": 2, **changes}


def amd(shape: str, driver: str) -> dict[str, Any]:
    """Return a pool with GPUs of AMD and a release of their driver."""
    return {"shape": shape, "nodes": 1, "system": {"gpuDriverVersion": driver}}


V100 = pool("Tesla-V100-SXM2-32GB")

CASES: dict[str, tuple[dict[str, Any], list[tuple[str, str, str]]]] = {
    "H100 with the operator's driver": ({"pools": {"h100": H100}}, []),
    "V100 with the operator's driver": (
        {"pools": {"v100": V100}},
        [
            (
                "gpu-driver",
                "pools.v100.shape",
                (
                    "nodes of 'v100' have driver 595.91.07, but V100 needs branch 580 or older; name such a release in "
                    "system.gpuDriverVersion of the pool"
                ),
            )
        ],
    ),
    "V100 with a driver of its own": ({"pools": {"h100": H100, "v100": {**V100, "system": V580}}}, []),
    "V100 with the whole cluster's driver": ({"pools": {"v100": V100}, "system": V580}, []),
    "V100 with a driver in the image that nobody names": (
        {"pools": {"v100": V100}, "system": {"gpuDriver": "system"}},
        [],
    ),
    "V100 with a named driver in the image": (
        {"pools": {"v100": V100}, "system": {"gpuDriver": "system", "gpuDriverVersion": "595.71.05"}},
        [("gpu-driver", "system.gpuDriverVersion", "but V100 needs branch 580 or older")],
    ),
    "B200 with an old driver by values": (
        {"pools": {"b200": {"shape": "dgx-b200", "nodes": 1}}, "operators": OLD},
        [("gpu-driver", "operators.gpu-operator.values.driver.version", "B200 or GB200 needs branch 570 or newer")],
    ),
    "V100 beside a fabric": (
        {"pools": {"h100": H100, "v100": V100}, "fabric": ROCE, "system": V580},
        [
            (
                "gpu-driver-modules",
                "pools.v100",
                "get the open kernel modules, but V100 needs the proprietary ones; set gpuDriverVersion for this pool",
            )
        ],
    ),
    "V100 beside a fabric with the operator's driver, whose branch is the first that is wrong": (
        {"pools": {"h100": H100, "v100": V100}, "fabric": ROCE},
        [("gpu-driver", "pools.v100.shape", "but V100 needs branch 580 or older")],
    ),
    "V100 beside a fabric with a driver of its own": (
        {"pools": {"h100": H100, "v100": {**V100, "system": V580}}, "fabric": ROCE},
        [],
    ),
    "a product that is not known": ({"pools": {"new": pool("NVIDIA-R100")}}, []),
    "AMD": ({"pools": {"amd": {"shape": "mi300x", "nodes": 1}}}, []),
    "MI355X with the driver of ROCm 7": ({"pools": {"amd": amd("mi355x", "30.10.1")}}, []),
    "MI355X with the driver of ROCm 6": (
        {"pools": {"amd": amd("mi355x", "6.4.3")}},
        [
            (
                "gpu-driver",
                "pools.amd.system.gpuDriverVersion",
                (
                    "nodes of 'amd' have amdgpu 6.4.3, but MI350 or MI355X needs 30.10 or newer; name such a release "
                    "in system.gpuDriverVersion"
                ),
            )
        ],
    ),
    "MI325X with an older driver of all nodes": (
        {"pools": {"amd": {"shape": "mi325x", "nodes": 1}}, "system": {"gpuDriverVersion": "6.2.4"}},
        [("gpu-driver", "system.gpuDriverVersion", "but MI325X needs 6.3 or newer")],
    ),
    "MI355X beside NVIDIA's GPUs and their driver": (
        {"pools": {"amd": {"shape": "mi355x", "nodes": 1}, "h100": H100}, "system": V580},
        [],
    ),
    "MI210 with any driver": ({"pools": {"amd": amd("mi210", "5.4.0")}}, []),
    "MI300X with a newer driver": ({"pools": {"amd": amd("mi300x", "31.50.0")}}, []),
    "a misspelt shape": ({"pools": {"h100": {"shape": "dgx-h1000", "nodes": 1}}}, []),
    "no GPU Operator": ({"pools": {"v100": V100}, "operators": {}}, []),
}


@pytest.mark.parametrize(("changes", "expected"), CASES.values(), ids=CASES)
def test_a_driver_supports_the_gpus_of_its_pool(changes, expected):
    """The finding is where the release is named, else at the pool's shape."""
    own = {"queues": {}, "operators": GPU, **changes}
    found = list(check(make_cluster(**own), source(**own)))
    assert [(item.rule, item.path) for item in found] == [(rule, path) for rule, path, _ in expected]
    assert all(words in item.message for item, (_, _, words) in zip(found, expected, strict=True))
