"""A checkpoint interval in which many GPU-hours are computed is reported from the repository's bound on."""

from __future__ import annotations

from typing import Any

import pytest

from make import make_job_file, make_repository, make_specs
from trainyard.judge.preflight.job.lost_work import check
from trainyard.judge.preflight.jobs import run_of
from trainyard.judge.preflight.subjects import OneJob

CASES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "once a day": (
        {"every": 1440},
        ["everyMinutes is 1440, so a lost node costs up to 384 GPU-hours on 16 GPUs; lower it"],
    ),
    "once in four hours": (
        {"every": 240, "max_hours": 100},
        ["everyMinutes is 240, so a lost node costs up to 64 GPU-hours on 16 GPUs; lower it"],
    ),
    "within a bound of its own": ({"every": 240, "bound": 64}, []),
    "every two hours, whatever it has": ({"every": 120, "bound": 1}, []),
    "a run that is shorter": ({"every": 1440, "max_hours": 20}, []),
    "one GPU": ({"every": 1440, "nodes": 1, "gpus_per_node": 1}, []),
    "no GPUs": ({"every": 1440, "pool": "cpu", "gpus_per_node": None, "cpus_per_node": 4}, []),
}


@pytest.mark.parametrize(("job", "expected"), CASES.values(), ids=CASES)
def test_what_a_lost_node_costs(job, expected):
    """All GPUs of the run count, from one checkpoint to the next."""
    job = dict(job)
    bound = job.pop("bound", 50)
    saves = {"volume": "checkpoints", "size": "10Gi", "everyMinutes": job.pop("every")}
    file = make_job_file(checkpoint=saves, **job)
    specs = make_specs(file, repository=make_repository(unsaved_gpu_hours=bound))
    found = list(check(OneJob(specs, file, run_of(specs, file))))
    assert [item.message for item in found] == expected
    assert all(item.path == "checkpoint.everyMinutes" and item.location.line for item in found)
