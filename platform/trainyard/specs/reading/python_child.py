"""The other process: runs programs that yield jobs, each in a fork of its own with little memory and time.

It keeps accidents and careless programs from reading, writing or reaching anything; it is no defence against malice,
which a review must see. Nothing that it answers is trusted: the parent validates every job again.
"""

from __future__ import annotations

import ast
import inspect
import json
import os
import resource
import select
import signal
import sys
import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any

from pydantic import ValidationError

import trainyard.specs
from trainyard.specs import Job
from trainyard.specs.reading import problems

CPU_SECONDS = 10
WALL_SECONDS = 20
MEMORY_BYTES = 2**30
ANSWER_BYTES = 16 * 2**20
MAX_JOBS = 1000

READS = frozenset({"open", "os.listdir", "os.scandir"})
"""Audit events of looking at the disk: allowed where modules lie, since imports are late."""

REFUSED = ("os.", "socket.", "subprocess.", "shutil.", "ctypes.", "mmap.", "pty.", "fcntl.", "resource.", "signal.")
"""Audit events of reaching outside, by their first words (Python's table of audit events)."""

Answer = dict[str, Any]


def main() -> None:
    """Answer each program of the list on standard input with one line of JSON."""
    programs = json.load(sys.stdin)
    for program in programs:
        found = forked(program["text"].encode("latin-1"), program["file"])
        sys.stdout.write(json.dumps({"file": program["file"], **found}) + "\n")
        sys.stdout.flush()


def forked(text: bytes, file: str) -> Answer:
    """Run one program in a fork and return its answer, or why there is none."""
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(out)
        try:
            answer(text, file, into)
        finally:
            os._exit(0)
    os.close(into)
    said = received(out)
    if said is None:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return answered(said, status)


def answer(text: bytes, file: str, into: int) -> None:
    """Run a program and write its answer into a pipe, which is opened before opening is refused."""
    with os.fdopen(into, "wb") as pipe:
        try:
            found = limited(text, file)
        except MemoryError:
            found = failed(f"program needs more than {MEMORY_BYTES >> 20} MiB of memory; make fewer jobs")
        pipe.write(json.dumps(found).encode())


def received(pipe: int) -> bytes | None:
    """Return all that comes out of a pipe, or None where it takes too long or is too much."""
    text, end = b"", time.monotonic() + WALL_SECONDS
    with os.fdopen(pipe, "rb", buffering=0) as stream:
        while len(text) <= ANSWER_BYTES:
            ready, _, _ = select.select([stream], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                return None
            part = stream.read(2**16)
            if not part:
                return text
            text += part
    return None


def answered(text: bytes | None, status: int) -> Answer:
    """Read what the fork wrote before it ended with a status."""
    if text is None or (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU):
        return failed(f"program is not done after {CPU_SECONDS} seconds; make fewer jobs or a shorter loop")
    try:
        found = json.loads(text)
    except ValueError:
        return failed("program ended without an answer; let jobs() return")
    return found if isinstance(found, dict) else failed("program gave an answer of its own; yield jobs instead")


def failed(message: str, line: int = 1) -> Answer:
    """Return the answer for a program that made no jobs."""
    return {"problems": [{"rule": "python-error", "message": message, "line": line}]}


def limited(text: bytes, file: str) -> Answer:
    """Run a program with limits on time, memory and files; its output goes nowhere."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)
    for limit, most in (
        (resource.RLIMIT_CPU, CPU_SECONDS),
        (resource.RLIMIT_AS, MEMORY_BYTES),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        with suppress(ValueError, OSError):
            resource.setrlimit(limit, (most, most + 1))
    try:
        tree = ast.parse(text, file)
    except (SyntaxError, ValueError) as error:
        return failed(f"program is no Python: {error.args[0]}", getattr(error, "lineno", None) or 1)
    if foreign := next(imports(tree), None):
        name, line = foreign
        return failed(f"program imports {name!r}; only trainyard.specs and the standard library are there", line)
    sys.addaudithook(guard())
    return collected(tree, file)


def imports(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield modules that a program may not import, with the line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names if not importable(alias.name))
        elif isinstance(node, ast.ImportFrom) and (node.level or not importable(node.module or "")):
            yield "." * node.level + (node.module or ""), node.lineno


def importable(module: str) -> bool:
    """Whether a program may import a module."""
    return module == "trainyard.specs" or module.partition(".")[0] in sys.stdlib_module_names


def guard() -> Any:
    """Return an audit hook that refuses to write, to read outside of modules, and to reach other processes or hosts."""
    roots = tuple(os.path.realpath(entry) + os.sep for entry in sys.path if entry)
    known = {name.partition(".")[0] for name in sys.modules} | sys.stdlib_module_names
    writing = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "import":
            if str(arguments[0]).partition(".")[0] not in known:
                raise PermissionError(f"import of {arguments[0]!r}")
        elif event in READS:
            path = arguments[0]
            flags = arguments[2] if event == "open" and isinstance(arguments[2], int) else 0
            inside = isinstance(path, (str, bytes)) and (os.path.realpath(os.fsdecode(path)) + os.sep).startswith(roots)
            if flags & writing or not inside:
                raise PermissionError(f"{event} of {str(path)[:80]!r}")
        elif event.startswith(REFUSED):
            raise PermissionError(event)

    return hook


def collected(tree: ast.Module, file: str) -> Answer:
    """Run a program and collect what its function `jobs` yields."""
    scope: dict[str, Any] = {"__name__": "jobs", "__file__": file}
    made: list[Answer] = []
    try:
        exec(compile(tree, file, "exec"), scope)  # noqa: S102 - running the program is the purpose
        function = scope.get("jobs")
        if not inspect.isfunction(function):
            return failed("program has no function jobs(); define one that yields (name, Job)")
        for item, line in yielded(function()):
            if not (
                isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], str) and isinstance(item[1], Job)
            ):
                return failed(f"jobs() yields {type(item).__name__}; yield pairs of a name and a Job", line)
            if len(made) == MAX_JOBS:
                return failed(f"jobs() yields more than {MAX_JOBS} jobs; split the program", line)
            name, job = item
            made.append(
                {"name": name, "line": line, "job": job.model_dump(mode="json", by_alias=True, exclude_unset=True)}
            )
    except ValidationError as error:
        return {"problems": list(explained(error, place(error.__traceback__, file)))}
    except MemoryError:
        raise
    except BaseException as error:  # noqa: BLE001 - whatever a program raises is its problem, not ours
        return failed(stopped(error), place(error.__traceback__, file))
    return {"jobs": made}


def yielded(items: Any) -> Iterator[tuple[Any, int]]:
    """Yield each item with the line that yields it, where a generator tells."""
    for item in items:
        frame = getattr(items, "gi_frame", None)
        yield item, frame.f_lineno if frame else 1


def explained(error: ValidationError, line: int) -> Iterator[Mapping[str, Any]]:
    """Yield the problems of a model that a program made wrongly."""
    model = getattr(trainyard.specs, error.title, Job)
    for details in error.errors(include_url=False):
        rule, _, message = problems.explain(details, model, None)
        yield {"rule": rule, "message": message, "line": line}


def stopped(error: BaseException) -> str:
    """Return the sentence for an exception, in one line."""
    what = " ".join(str(error).split())[:120]
    if isinstance(error, PermissionError) and error.errno is None:
        return f"program reaches outside, by {what}; jobs may depend on the program alone"
    return f"program stopped with {type(error).__name__}" + (f": {what}" if what else "")


def place(trace: TracebackType | None, file: str) -> int:
    """Return the last line of the program in a traceback."""
    lines = [entry.lineno for entry in traceback.extract_tb(trace) if entry.filename == file]
    return next((line for line in reversed(lines) if line), 1)
