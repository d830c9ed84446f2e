"""Options of PyTorch's memory allocator must have names and values that PyTorch knows.

Why: PyTorch raises an error on another name or value as soon as the program uses a GPU, in every rank.
Fix: correct the option; each is written as name:value, with commas between them, and values are True or False.
Source: pytorch v2.8 c10/cuda/CUDAAllocatorConfig.cpp; pytorch v2.9 c10/core/AllocatorConfig.h
"""

import difflib
import re
from collections.abc import Iterator

from trainyard.checks import Problem, World

VARIABLES = {"PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF"}

OPTIONS = {
    *("backend", "expandable_segments", "garbage_collection_threshold", "graph_capture_record_stream_reuse"),
    *("max_non_split_rounding_mb", "max_split_size_mb", "pinned_num_register_threads"),
    *("pinned_reserve_segment_size_mb", "pinned_use_background_threads", "pinned_use_cuda_host_register"),
    *("pinned_use_hip_host_register", "release_lock_on_cudamalloc", "release_lock_on_hipmalloc"),
    *("roundup_bypass_threshold_mb", "roundup_power2_divisions"),
}
"""Of all releases: an option that is far from each of them may be a newer one."""

FLAGS = {
    *("expandable_segments", "graph_capture_record_stream_reuse", "pinned_use_background_threads"),
    *("pinned_use_cuda_host_register", "pinned_use_hip_host_register"),
    *("release_lock_on_cudamalloc", "release_lock_on_hipmalloc"),
}
"""Options that are True or False, in this spelling alone."""

SIZES = {"max_split_size_mb", "max_non_split_rounding_mb"}
LEAST = 20
"""Mebibytes: such a size is at least that of a large block."""

LIST = re.compile(r"\[[^\]]*\]?")
"""The value of an option for several sizes."""

NUMBER = re.compile(r"\d+(\.\d*)?")

NEAR = 0.85


def check(world: World) -> Iterator[Problem]:
    """Find options that almost have the name of one, are written with an equals sign, or have no value of theirs."""
    for job in world.workloads():
        for variable in job.variables():
            if variable.name in VARIABLES and variable.value and "$(" not in variable.value:
                for wrong in faults(variable.value):
                    yield Problem(variable.place, f"PyTorch does not know {wrong}")


def faults(value: str) -> Iterator[str]:
    """Yield the options of a variable that PyTorch refuses, in words."""
    for option in LIST.sub("", "".join(value.split())).split(","):
        name = option.partition(":")[0]
        before, equals, after = name.partition("=")
        if equals and before in OPTIONS:
            yield f"option {name!r}; write {f'{before}:{after}'!r}"
            continue
        near = difflib.get_close_matches(name.lower(), OPTIONS, n=1, cutoff=NEAR)
        if name not in OPTIONS and near:
            yield f"option {name!r}; did you mean {near[0]!r}?"
        elif wrong := value_fault(name, option.partition(":")[2]):
            yield wrong


def value_fault(name: str, value: str) -> str:
    """Return the fault of an option's value, in words; empty where it may be right."""
    if name in FLAGS and value not in ("True", "False"):
        meant = {"true": "True", "1": "True", "on": "True"}.get(value.lower(), "False") if value else "True"
        return f"{value!r} as {name}; write {meant}"
    if name in SIZES and value.isdigit() and int(value) < LEAST:
        return f"{value} as {name}; write {LEAST} or more"
    if name == "garbage_collection_threshold" and NUMBER.fullmatch(value) and not 0 < float(value) < 1:
        return f"{value} as {name}; write a number between 0 and 1, such as 0.8"
    return ""
