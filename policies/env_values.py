"""Variables of NCCL, PyTorch and JAX have values with which a run lives.

Why: A timeout of microseconds takes the first congestion for a dead link. A heartbeat of seconds kills ranks that
 compile or save. A fraction above the whole requests memory that no GPU has.
Fix: remove the variable: the default fits.
Source: NCCL 2.30 user guide, NCCL_IB_TIMEOUT and NCCL_IB_RETRY_CNT; pytorch v2.9
 torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp heartbeatTimeoutInSec; docs.jax.dev gpu_memory_allocation
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from trainyard.checks import Place, Problem, Severity, World

SEVERITY = Severity.WARNING
NUMBER = re.compile(r"\d+(?:\.\d+)?|\.\d+")


class Bounds(NamedTuple):
    """The smallest and largest value of a variable that works."""

    least: float
    most: float
    why: str


BOUNDS = {
    "NCCL_IB_TIMEOUT": Bounds(14, 31, "packets time out after 4 µs × 2 to that power"),
    "NCCL_IB_RETRY_CNT": Bounds(1, 7, "InfiniBand retries 1 to 7 times"),
    "TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC": Bounds(60, 1e9, "the watchdog kills ranks that save or compile for longer"),
    "XLA_PYTHON_CLIENT_MEM_FRACTION": Bounds(0.01, 10, "it is a fraction, such as 0.9"),
}


def check(world: World) -> Iterator[Problem]:
    """Look at the variables of all workloads."""
    for job in world.workloads():
        for variable in job.variables():
            bounds, value = BOUNDS.get(variable.name), (variable.value or "").strip()
            if bounds and NUMBER.fullmatch(value) and float(value) and not bounds.least <= float(value) <= bounds.most:
                message = f"{variable.name} is {value}, but {bounds.why}; remove it"
                yield Problem(Place(variable.place.manifest, (*variable.place.path, "value")), message)
