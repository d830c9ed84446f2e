"""GPU software that a job states of its image works with the GPUs and the driver of its pools, or is an error."""

from __future__ import annotations

from typing import Any

import pytest

from make import CPU_NODE, fields, make_cluster, make_job, make_job_file, make_specs
from trainyard.judge.preflight.job.image_gpus import check
from trainyard.judge.preflight.subjects import OneJob
from trainyard.specs.models.images import image_name
from trainyard.specs.run import digest

NAME = f"registry.example.com/nlp/llm@sha256:{'5' * 64}"
OPERATOR = {"gpu-operator": {"version": "26.7.0"}}


def pool(product: str, driver: str | None = None, vendor: str = "nvidia") -> dict[str, Any]:
    """Return a pool with GPUs of a product and a release of the driver."""
    gpus = {"count": 8, "vendor": vendor, "product": product, "memory": "32Gi", "resource": f"{vendor}.com/gpu"}
    system = {"gpuDriverVersion": driver} if driver else {}
    return {"shape": fields(CPU_NODE, {"gpus": gpus}), "nodes": 2, "system": system}


H100, V100, B200 = "NVIDIA-H100-80GB-HBM3", "Tesla-V100-SXM2-32GB", "NVIDIA-B200"
MI300X = pool("AMD_Instinct_MI300X_OAM", vendor="amd")


def amd(driver: str, product: str = "AMD_Instinct_MI300X_OAM") -> dict[str, Any]:
    """Return a pool with GPUs of AMD and a release of its driver."""
    return {"gpu": pool(product, driver, vendor="amd")}


CASES: dict[str, tuple[dict[str, Any], dict[str, Any], list[tuple[str, str, str]]]] = {
    "CUDA of the driver": ({"cuda": "12.8"}, {"gpu": pool(H100, "570.133.20")}, []),
    "a newer minor release": ({"cuda": "12.9"}, {"gpu": pool(H100, "535.247.01")}, []),
    "a driver newer than CUDA": ({"cuda": "11.8"}, {"gpu": pool(H100, "580.126.20")}, []),
    "a newer major release": (
        {"cuda": "13.0"},
        {"gpu": pool(H100, "550.163.01")},
        [
            (
                "run/image-driver",
                "image.cuda",
                "image has CUDA 13.0, but pool 'gpu' has driver 550.163.01; use CUDA 12.x or driver 580 or newer",
            )
        ],
    ),
    "the forward compatibility package": (
        {"cuda": "13.0", "olderDrivers": [535, 550, 570]},
        {"gpu": pool(H100, "550.163.01")},
        [],
    ),
    "the forward compatibility package for other drivers": (
        {"cuda": "13.0", "olderDrivers": [535, 570]},
        {"gpu": pool(H100, "550.163.01")},
        [("run/image-driver", "image.cuda", "driver 580 or newer")],
    ),
    "the operator's driver": ({"cuda": "13.0"}, {"gpu": pool(H100)}, []),
    "a release that nobody knows": ({"cuda": "19.0"}, {"gpu": pool(H100, "550.163.01")}, []),
    "a release that dropped the GPUs": (
        {"cuda": "13.0"},
        {"gpu": pool(V100, "580.126.20")},
        [("run/image-generation", "image.cuda", "image has CUDA 13.0, but V100 needs CUDA 12.9 or older")],
    ),
    "a release before the GPUs": (
        {"cuda": "12.6"},
        {"gpu": pool(B200, "580.126.20")},
        [("run/image-generation", "image.cuda", "but B200 or GB200 needs CUDA 12.8 or newer")],
    ),
    "GPUs that nobody knows": ({"cuda": "9.0"}, {"gpu": pool("NVIDIA-R100", "580.126.20")}, []),
    "CUDA on AMD": (
        {"cuda": "12.8"},
        {"gpu": MI300X},
        [("run/image-vendor", "image", "image has CUDA, but pool 'gpu' has GPUs of amd; use an image with ROCm")],
    ),
    "ROCm on NVIDIA": (
        {"rocm": "7.0"},
        {"gpu": pool(H100)},
        [("run/image-vendor", "image", "image has ROCm, but pool 'gpu' has GPUs of nvidia; use an image with CUDA")],
    ),
    "ROCm on AMD": ({"rocm": "7.0"}, {"gpu": MI300X}, []),
    "ROCm that the driver supports": ({"rocm": "7.2"}, amd("6.4.1"), []),
    "an older ROCm that the driver supports": ({"rocm": "6.3"}, amd("30.30.2"), []),
    "ROCm that is newer than its driver supports": (
        {"rocm": "7.14"},
        amd("6.4.1"),
        [
            (
                "run/image-driver",
                "image.rocm",
                ("image has ROCm 7.14, but amdgpu 6.4.1 of pool 'gpu' supports 6.1 to 7.2; use those or amdgpu 30.10"),
            )
        ],
    ),
    "ROCm that is older than its driver supports": (
        {"rocm": "6.4"},
        amd("31.40.1"),
        [("run/image-driver", "image.rocm", "supports 7.0 to 10.0; use those or amdgpu 30.30")],
    ),
    "a newer ROCm than the table has, with a new driver": ({"rocm": "10.2"}, amd("30.30.2"), []),
    "a newer ROCm than the table has, with an old driver": (
        {"rocm": "10.2"},
        amd("6.4.1"),
        [("run/image-driver", "image.rocm", "amdgpu 6.4.1 of pool 'gpu' supports 6.1 to 7.2; use those")],
    ),
    "a newer driver than the table has": ({"rocm": "6.4"}, amd("32.10.0"), []),
    "a driver of AMD that nobody names": ({"rocm": "6.0"}, {"gpu": MI300X}, []),
    "a driver for which the GPUs are too new": (
        {"rocm": "7.14"},
        amd("6.4.1", "AMD_Instinct_MI355X"),
        [("run/image-driver", "image.rocm", "use those or amdgpu 30.10")],
    ),
    "both": ({"rocm": "7.0", "cuda": "12.8"}, {"gpu": MI300X}, []),
    "ROCm before the GPUs": (
        {"rocm": "6.4"},
        {"gpu": pool("AMD_Instinct_MI355X", vendor="amd")},
        [("run/image-generation", "image.rocm", "image has ROCm 6.4, but MI350 or MI355X needs ROCm 7.0 or newer")],
    ),
}


def judge(image: Any, pools: dict[str, Any], **job: Any) -> list[Any]:
    """Return the findings on a job with an image, on a cluster with some pools."""
    file = make_job_file(image=image, pool="gpu", **job)
    cluster = make_cluster(pools=pools, queues={}, operators=OPERATOR)
    specs = make_specs(file, clusters={"test": cluster})
    return list(check(OneJob(specs, file, None), specs.teams["nlp"], cluster))


@pytest.mark.parametrize(("software", "pools", "expected"), CASES.values(), ids=CASES)
def test_software_of_an_image_works_on_its_pool(software, pools, expected):
    """What is said of the image is compared with the pool's GPUs and driver."""
    found = judge({"name": NAME, **software}, pools)
    assert [(item.rule, item.path) for item in found] == [(rule, path) for rule, path, _ in expected]
    assert all(words in item.message for item, (_, _, words) in zip(found, expected, strict=True))


def test_what_amd_has_not_tested_is_a_warning():
    """AMD's table says which releases it supports; others may work."""
    (found,) = judge({"name": NAME, "rocm": "7.14"}, amd("6.4.1"))
    assert not found.is_error


def test_beside_nvidia_the_cluster_names_nvidias_driver():
    """A release for all nodes counts for AMD's pools only where all GPUs are AMD's."""
    file = make_job_file(image={"name": NAME, "rocm": "7.14"}, pool="gpu")
    for pools, count in (({"gpu": MI300X}, 1), ({"gpu": MI300X, "h100": pool(H100)}, 0)):
        cluster = make_cluster(pools=pools, queues={}, system={"gpuDriverVersion": "6.4.1"})
        specs = make_specs(file, clusters={"test": cluster})
        assert len(list(check(OneJob(specs, file, None), specs.teams["nlp"], cluster))) == count


def test_only_pools_whose_gpus_are_used_count():
    """A job without GPUs may run anywhere; a role with GPUs on another pool is compared with that one."""
    image, pools = {"name": NAME, "cuda": "12.8"}, {"gpu": pool(H100), "amd": MI300X}
    assert not judge(image, {"gpu": MI300X}, gpus_per_node=None)
    (found,) = judge(image, pools, roles={"head": {"pool": "amd", "gpusPerNode": 8}})
    assert "pool 'amd' has GPUs of amd" in found.message
    assert not judge(NAME, {"gpu": MI300X})


def test_a_run_stays_the_same_whatever_is_said_of_its_image():
    """The digest of a run has the image's name alone."""
    plain, stated = make_job(image=NAME), make_job(image={"name": NAME, "cuda": "12.8"})
    assert image_name(stated.image) == stated.image_name == plain.image_name == NAME
    assert digest(plain, {}) == digest(stated, {})
    assert digest(plain, {}) != digest(make_job(image={"name": NAME.replace(64 * "5", 64 * "7"), "cuda": "12.8"}), {})
