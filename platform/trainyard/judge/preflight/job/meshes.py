"""Whether a mesh of devices that a job's own program writes in numbers has as many ranks as the run."""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Iterator
from math import prod

from trainyard.base.findings import Finding
from trainyard.base.rules import Rule
from trainyard.judge.preflight.job.options import brought
from trainyard.judge.preflight.subjects import RESOLVED
from trainyard.render.kinds import Resolved

MESH = Rule(
    id="run/mesh",
    title="A mesh of devices in a job's program has no more devices than the run has ranks.",
    why="PyTorch refuses a larger mesh when the program starts, on every rank and at every restart",
    fix="change the sizes of the mesh, or nodes and processesPerNode",
    source="pytorch/pytorch torch/distributed/device_mesh.py DeviceMesh",
    layer="run",
    may_waive=True,
)

CALL = "init_device_mesh"
BRANCHES = (
    ast.If,
    ast.IfExp,
    ast.Try,
    ast.Match,
    ast.For,
    ast.While,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.Lambda,
)
"""What may leave out a call within it, or is called by nobody; `main` is looked into."""


@RESOLVED.check()
def check(run: Resolved) -> Iterator[Finding]:
    """Yield programs among the job's files that make a mesh larger than the run."""
    job = run.run.job
    if job.program is None or job.min_nodes is not None or job.array is not None:
        return
    ranks = sum(role.nodes * role.processes.value for role in run.specs if role.ranks)
    for place, file, text in brought(job, run.run.contents):
        if file == posixpath.normpath(job.program) and CALL in text and (sizes := mesh(text)) and prod(sizes) > ranks:
            shape = " × ".join(map(str, sizes))
            name = file.rpartition("/")[2]
            message = f"{name} makes a mesh of {shape} = {prod(sizes)} devices, but the job has {ranks} ranks"
            yield MESH.at(run.run.source, place, f"{message}; change one of them")


def mesh(text: str) -> tuple[int, ...]:
    """Return the sizes of the only mesh of a program, if it is always made, and of numbers; empty for all others."""
    try:
        calls = list(sure_calls(ast.parse(text)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    if len(calls) != 1 or text.count(f"{CALL}(") != 1:
        return ()
    given = {word.arg: word.value for word in calls[0].keywords}
    shape = given.get("mesh_shape", calls[0].args[1] if len(calls[0].args) > 1 else None)
    parts = shape.elts if isinstance(shape, (ast.Tuple, ast.List)) else []
    numbers = [part.value for part in parts if isinstance(part, ast.Constant) and type(part.value) is int]
    return tuple(numbers) if len(numbers) == len(parts) and all(number > 0 for number in numbers) else ()


def sure_calls(node: ast.AST) -> Iterator[ast.Call]:
    """Yield the calls for a mesh that no branch can leave out."""
    for inner in ast.iter_child_nodes(node):
        is_main = isinstance(inner, ast.FunctionDef) and inner.name == "main"
        if isinstance(inner, BRANCHES) and not is_main:
            continue
        if isinstance(inner, ast.Call) and ast.unparse(inner.func).rpartition(".")[2] == CALL:
            yield inner
        yield from sure_calls(inner)
