"""Options of PyTorch's memory allocator must have names that PyTorch knows.

Why: PyTorch raises an error on an unknown option as soon as the program uses a GPU, in every rank.
Fix: correct the option's name; each is written as name:value, with commas between them.
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

LIST = re.compile(r"\[[^\]]*\]?")
"""The value of an option for several sizes."""

NEAR = 0.85


def check(world: World) -> Iterator[Problem]:
    """Find options that almost have the name of one, or are written with an equals sign."""
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
