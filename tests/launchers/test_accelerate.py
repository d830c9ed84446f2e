"""Accelerate starts as the job's file of settings says, of which nodes and processes are always the job's own."""

from __future__ import annotations

from dataclasses import replace

import pytest

from make import make_run
from trainyard.base.documents import dump
from trainyard.render.launchers import Role, Wiring, launchers
from trainyard.render.sizing import size

WIRING = Wiring(host=lambda role, index: f"run-{role}-{index}.run", rank="INDEX", rank_field="metadata.labels['index']")
FILE = "llm/accelerate.yaml"


def launched(config: dict[str, object] | None = None, **job: object) -> Role:
    """Return the workers of a job, with settings in a file where there are any."""
    if config is not None:
        job |= {"files": [{"source": FILE, "mountPath": "/etc/llm"}]}
    run = make_run(launcher="accelerate", **job)
    run = replace(run, contents={} if config is None else {FILE: dump(config)})
    launcher = launchers()["accelerate"]
    (role,) = launcher.launch(run, size(run, launcher.roles(run)), WIRING).roles
    return role


def test_settings_of_the_job_choose_what_is_started_and_nothing_else():
    """The command line still says how many there are, which goes before the file, and DeepSpeed needs no ssh."""
    role = launched({"distributed_type": "DEEPSPEED", "num_machines": 1, "num_processes": 1}, nodes=4)
    assert "--config_file=/etc/llm/accelerate.yaml" in role.args
    assert {"--num_machines=4", "--num_processes=32", "--machine_rank=$(INDEX)"} <= set(role.args)
    assert "--deepspeed_multinode_launcher=standard" in role.args
    assert not {"--multi_gpu", "--mixed_precision=no", "--dynamo_backend=no"} & set(role.args)


def test_a_single_process_has_no_parent_that_keeps_signals_from_it():
    """Accelerate starts one process without forwarding SIGTERM; Python is the first process itself."""
    role = launched(nodes=1, gpus_per_node=1)
    assert (role.command, role.args) == (("python",), ("train.py",))
    assert launched({"distributed_type": "FSDP"}, nodes=1, gpus_per_node=1).command == ("accelerate", "launch")


def test_ranks_on_cpus_are_told_that_there_are_others():
    """Without the variable every rank is alone, though all of them are started (accelerate 1.15.0, seen)."""
    assert launched(nodes=2, pool="cpu", gpus_per_node=0).env["ACCELERATE_USE_CPU"].value == "true"
    assert "ACCELERATE_USE_CPU" not in launched(nodes=2).env


SETTINGS: dict[str, tuple[dict[str, object], list[str]]] = {
    "FSDP": ({"distributed_type": "FSDP", "compute_environment": "LOCAL_MACHINE", "gpu_ids": "all"}, []),
    "a process for each GPU": ({"distributed_type": "MULTI_GPU"}, []),
    "one process": (
        {"distributed_type": "NO"},
        ["distributed_type is NO, which starts only one process; use MULTI_GPU, FSDP, DEEPSPEED or MEGATRON_LM"],
    ),
    "CPUs beside GPUs": (
        {"distributed_type": "MULTI_GPU", "use_cpu": True},
        ["use_cpu is true, but a pod has 8 GPUs; remove it"],
    ),
    "some of the GPUs": (
        {"distributed_type": "MULTI_GPU", "gpu_ids": "0,1"},
        ["gpu_ids is 0,1, which leaves other GPUs of the pod idle; use all"],
    ),
    "a service of Amazon's": (
        {"distributed_type": "MULTI_GPU", "compute_environment": "AMAZON_SAGEMAKER"},
        ["compute_environment is AMAZON_SAGEMAKER, which starts no process here; use LOCAL_MACHINE"],
    ),
}


@pytest.mark.parametrize(("config", "wrong"), SETTINGS.values(), ids=SETTINGS)
def test_settings_that_start_something_else_are_refused(config, wrong):
    """What would start one process, or leave GPUs idle, is an error at the file that the job names."""
    run = make_run(launcher="accelerate", files=[{"source": FILE, "mountPath": "/etc/llm"}])
    found = list(launchers()["accelerate"].check(replace(run, contents={FILE: dump(config)})))
    assert [item.message for item in found] == [f"accelerate.yaml says {item}" for item in wrong]
    assert all(len(item.message.split()) <= 20 and item.is_error for item in found)
