"""Variables of NCCL, PyTorch and JAX have values with which a run lives.

Why: A timeout of microseconds takes the first congestion for a dead link. A heartbeat of seconds kills ranks that
 compile or save. A fraction above the whole requests memory that no GPU has.
Fix: remove the variable: the default fits.
Source: NCCL 2.30 user guide, environment variables; src/misc/utils.cc parseStringList; pytorch v2.9
 torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp heartbeatTimeoutInSec; docs.jax.dev gpu_memory_allocation
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from trainyard.checks import Place, Problem, Severity, Variable, World, all_variables

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
    "NCCL_IB_TC": Bounds(0, 255, "a traffic class has 8 bits"),
    "NCCL_IB_SL": Bounds(0, 15, "InfiniBand has service levels 0 to 15"),
    "NCCL_CROSS_NIC": Bounds(0, 2, "NCCL knows 0, 1 and 2"),
    "XLA_PYTHON_CLIENT_MEM_FRACTION": Bounds(0.01, 10, "it is a fraction, such as 0.9"),
}


LEVELS = re.compile(r"(?:LOC|NVL|NVB|C2C|PIX|PXB|P2C|PXN|PHB|SYS|[0-9].*)?")
"""Distances within a node, in capitals, and their old numbers (src/graph/paths.cc ncclGetLevel)."""

WORDS = {
    "NCCL_IB_HCA": (
        re.compile(r"(?!=\^)(?!.*,\s).*"),
        "=^ and blanks become part of a name; write ^= to exclude devices",
    ),
    "NCCL_DEBUG": (re.compile(r"(?i:version|warn|info|abort|trace|none)?"), "NCCL knows VERSION, WARN, INFO and TRACE"),
    "NCCL_NET_GDR_LEVEL": (LEVELS, "NCCL knows LOC, PIX, PXB, PHB and SYS"),
    "NCCL_P2P_LEVEL": (
        LEVELS,
        "NCCL knows LOC, NVL, PIX, PXB, PHB and SYS",
    ),
}
"""The values that a variable of words may have, and which they are; any other does nothing or hides the devices."""


def check(world: World) -> Iterator[Problem]:
    """Look at the variables of all workloads."""
    for job in world.workloads():
        for variable in all_variables(job):
            place = variable.place
            if isinstance(place.manifest.get(*place.path), dict):
                place = Place(place.manifest, (*place.path, "value"))
            yield from faults(place, variable)


def faults(place: Place, variable: Variable) -> Iterator[Problem]:
    """Yield the problem with a variable whose value is written."""
    value = (variable.value or "").strip()
    bounds = BOUNDS.get(variable.name)
    if bounds and NUMBER.fullmatch(value) and float(value) and not bounds.least <= float(value) <= bounds.most:
        message = f"{variable.name} is {value}, but {bounds.why}; remove it"
        yield Problem(place, message)
    known = WORDS.get(variable.name)
    if known and "$" not in value and not known[0].fullmatch(value):
        message = f"{variable.name} is {value[:20]!r}, but {known[1]}"
        yield Problem(place, message)
