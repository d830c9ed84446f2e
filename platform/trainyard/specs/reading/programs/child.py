"""The other process: runs programs that yield jobs, each in a fork of its own with little memory and time.

The kernel keeps each from everything but counting and its own answer, see `isolation`; what Python refuses besides
(`sandbox`, `worlds`) tells careless programs what is wrong with them. Nothing that one answers is believed.
"""

from __future__ import annotations

import ast
import gc
import importlib
import inspect
import io
import json
import os
import select
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from types import ModuleType, TracebackType
from typing import Any

from pydantic import ValidationError

import trainyard.specs
from trainyard.specs import Job
from trainyard.specs.reading import problems
from trainyard.specs.reading.layout import LONGEST_JOB_NAME
from trainyard.specs.reading.programs import answers, isolation, kernel, sandbox, turned, turns, twice, worlds
from trainyard.specs.reading.programs.answers import ANSWER_BYTES, MAX_JOBS, PRINTED, Answer, failed_answer
from trainyard.specs.reading.programs.isolation import Isolation
from trainyard.specs.reading.programs.kernel import RefusedError
from trainyard.specs.reading.programs.worlds import World

WALL_SECONDS = 20
"""How long one run of a program may take, from its start until its process has ended."""

TOTAL_SECONDS = 600
"""After so long no further program is run: more than 2,000 take that run for 0.3 s, as our largest example does in all
its worlds, and less than pipelines give a job (GitLab an hour, GitHub six)."""

TRYING_SECONDS = 5
"""How long to look for what a program follows; the other process tells in any case that it follows something."""


def main() -> None:
    """Answer each program of the list on standard input with one line of JSON, by what the arguments say.

    The second, `first`, asks for the answer that counts; `other` for what the program makes in a process with another
    seed of hashes. The third, `isolated` or `unsafe`, says whether the kernel has to hold the programs; where it does
    not, one line says why, and no program is run. The fourth is the process that asks, with which this one ends. A line
    is the program's place in the list and its answer; lines come in the order in which programs are run.
    """
    stay_with(int(sys.argv[4]))
    ask = {"first": in_first, "other": elsewhere}[sys.argv[2]]
    sandbox.NOWHERE = os.open(os.devnull, os.O_RDWR)
    held = None
    if sys.argv[3] != "unsafe":
        try:
            held = isolation.enter()
        except (RefusedError, OSError) as error:
            sys.stdout.write(json.dumps({"refused": str(error)}) + "\n")
            return
    programs = json.load(sys.stdin)
    gc.collect()
    gc.freeze()  # so that forks share what is there
    end = time.monotonic() + TOTAL_SECONDS
    for number in turns.fair([program["file"] for program in programs], time.monotonic):
        file, text = programs[number]["file"], programs[number]["text"].encode("latin-1")
        found = ask(text, file, held) if time.monotonic() < end else unrun_answer(sys.argv[2])
        sys.stdout.write(json.dumps([number, found]) + "\n")
        sys.stdout.flush()


def stay_with(parent: int) -> None:
    """End when the process that asks does, also where it has ended already."""
    with suppress(RefusedError):  # elsewhere than on Linux, where programs run only if somebody says so
        kernel.die_with_parent()
    if os.getppid() != parent:
        sys.exit("nobody waits for an answer")


def unrun_answer(asked: str) -> Answer:
    """Return the answer for a program whose turn did not come."""
    found = failed_answer(f"program was not run: all programs together took {TOTAL_SECONDS} seconds; make them faster")
    return found if asked == "first" else {"hashed": found, "other": found}


def in_first(text: bytes, file: str, held: Isolation | None) -> Answer:
    """Return the jobs of a program in the first world, and their differences in worlds beside it."""
    began = time.monotonic()
    found = run_forked(text, file, worlds.FIRST, held)
    if "problems" in found:
        return found
    for factor, world in (*worlds.near(set(found.pop("seen", ()))), ("order", worlds.TURNED)):
        if factor == "order" or time.monotonic() - began < TRYING_SECONDS:
            differs = twice.difference(found, run_forked(text, file, world, held), factor)
            if differs:
                return {**found, "differs": differs}
    return found


def elsewhere(text: bytes, file: str, held: Isolation | None) -> Answer:
    """Return the jobs of a program where hashes are others, and where everything is another way."""
    hashed = run_forked(text, file, worlds.FIRST, held)
    return {"hashed": hashed, "other": hashed if "problems" in hashed else run_forked(text, file, worlds.OTHER, held)}


def run_forked(text: bytes, file: str, world: World, held: Isolation | None) -> Answer:
    """Run one program in a fork and return its answer, or why there is none."""
    end = time.monotonic() + WALL_SECONDS
    out, into = socket.socketpair()  # whose files have no times; those of a pipe tell when it was made
    child = os.fork()
    if child == 0:
        out.close()
        try:
            answer(text, file, world, held, into.detach())
        finally:
            os._exit(0)
    into.close()
    said = receive_bytes(out, end)
    status = end_status(child, end) if said is not None and len(said) <= ANSWER_BYTES else None
    if status is None:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return read_answer(said, status)


def answer(text: bytes, file: str, world: World, held: Isolation | None, into: int) -> None:
    """Run a program and write its answer into a pipe, which is opened before opening is refused."""
    with os.fdopen(into, "wb") as pipe:
        with suppress(RefusedError):
            kernel.die_with_parent()
        try:
            found = run_limited(text, file, world, lambda: held.close(into) if held else None)
        except RefusedError as error:
            found = failed_answer(f"program could not be isolated: {error}")
        except MemoryError:
            found = failed_answer(
                f"program needs more than {sandbox.MEMORY_BYTES >> 20} MiB of memory; make fewer jobs"
            )
        pipe.write(json.dumps(found).encode())


def receive_bytes(stream: socket.socket, end: float) -> bytes | None:
    """Return all that comes until the other side closes, a little more than is taken at most; None after the time."""
    text = bytearray()
    with stream:
        while len(text) <= ANSWER_BYTES:
            stream.settimeout(max(0.001, end - time.monotonic()))
            try:
                part = stream.recv(2**16)
            except TimeoutError:
                return None
            except ConnectionResetError:
                part = b""
            if not part:
                break
            text += part
            if time.monotonic() > end:
                return None
    return bytes(text)


def end_status(child: int, end: float) -> int | None:
    """Return the status with which a process ended, None where it runs on after the time."""
    try:
        handle = os.pidfd_open(child)
    except (AttributeError, OSError):  # macOS, kernels before 5.3, containers that forbid it
        handle = None
    if handle is not None:
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        poll.poll(max(0.0, end - time.monotonic()) * 1000)
        os.close(handle)
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done or time.monotonic() >= end:
            return status if done else None
        time.sleep(0.001)


def read_answer(text: bytes | None, status: int | None) -> Answer:
    """Read what the fork wrote before it ended with a status, None where it was ended."""
    if text is not None and len(text) > ANSWER_BYTES:
        return failed_answer(
            f"program's jobs are more than {ANSWER_BYTES >> 20} MiB as JSON; make fewer or smaller ones"
        )
    if text is None or status is None:
        return failed_answer(f"program runs longer than {WALL_SECONDS} seconds; make fewer jobs or a shorter loop")
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU:
        return failed_answer(
            f"program uses more than {sandbox.CPU_SECONDS} seconds of CPU; make fewer jobs or a shorter loop"
        )
    return answers.parse_answer(text)


def run_limited(text: bytes, file: str, world: World, close: Callable[[], object]) -> Answer:
    """Run a program in a world, with limits, and return its answer with what it prints; `close` ends all its rights."""
    sandbox.limit()
    try:
        tree = ast.parse(text, file)
    except (SyntaxError, ValueError) as error:
        return failed_answer(f"program is not valid Python: {error.args[0]}", getattr(error, "lineno", None) or 1)
    imported = list(sandbox.imports(tree))
    if foreign := next((import_ for import_ in imported if not sandbox.importable(import_[0])), None):
        name, line = foreign
        return failed_answer(
            f"program imports {name!r}; only trainyard.specs and the standard library are available", line
        )
    for name, _ in imported:
        if name == "uuid":
            importlib.import_module(name)  # whose address of a machine is found out once
    module = sys.modules["jobs"] = ModuleType("jobs")
    scope = vars(module)
    scope["__file__"] = worlds.enter(world, file)
    if world.turned:
        tree = turned.Turn().visit(tree)
        scope["__builtins__"] = turned.names()
    sys.stdout = sys.stderr = said = io.StringIO()
    close()
    sandbox.shut_down()
    found = collect_jobs(tree, file, scope)
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} & {"__file__", "__import__"}
    seen = sorted(names | {name.partition(".")[0] for name, _ in imported})
    return {**found, "seen": seen, "printed": said.getvalue()[:PRINTED]}


def collect_jobs(tree: ast.Module, file: str, scope: dict[str, Any]) -> Answer:
    """Run a program and collect what its function `jobs` yields."""
    made: list[Answer] = []
    try:
        exec(compile(tree, file, "exec"), scope)  # noqa: S102 - running the program is the purpose
        function = scope.get("jobs")
        if not inspect.isfunction(function):
            return failed_answer("program has no function jobs(); define one that yields (name, Job)")
        for item, line in yielded_items(function()):
            if not (
                isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], str) and isinstance(item[1], Job)
            ):
                return failed_answer(f"jobs() yields {type(item).__name__}; yield pairs of a name and a Job", line)
            if len(made) == MAX_JOBS:
                return failed_answer(f"jobs() yields more than {MAX_JOBS} jobs; split the program", line)
            name, job = item
            if len(name) > answers.NAME:
                return failed_answer(
                    f"jobs() yields a name of {len(name)} characters; write {LONGEST_JOB_NAME} at most", line
                )
            made.append(
                {"name": name, "line": line, "job": job.model_dump(mode="json", by_alias=True, exclude_unset=True)}
            )
    except ValidationError as error:
        return {"problems": list(explain_errors(error, place(error.__traceback__, file)))}
    except MemoryError:
        raise
    except BaseException as error:  # noqa: BLE001 - whatever a program raises is its problem, not ours
        return failed_answer(stop_sentence(error), place(error.__traceback__, file))
    return {"jobs": made}


def yielded_items(items: Any) -> Iterator[tuple[Any, int]]:
    """Yield each item with the line that yields it, where a generator tells."""
    for item in items:
        frame = getattr(items, "gi_frame", None)
        yield item, frame.f_lineno if frame else 1


def explain_errors(error: ValidationError, line: int) -> Iterator[Mapping[str, Any]]:
    """Yield the problems of a model that a program made wrongly."""
    model = getattr(trainyard.specs, error.title, Job)
    for details in error.errors(include_url=False):
        rule, _, message = problems.explain(details, model, None)
        yield {"rule": rule, "message": message, "line": line}


def stop_sentence(error: BaseException) -> str:
    """Return the sentence for an exception, in one line."""
    what = " ".join(str(error).split())[:120]
    if isinstance(error, PermissionError) and error.errno is None:
        return f"program uses {what}, but jobs may only depend on the program; remove it"
    return f"program stopped with {type(error).__name__}" + (f": {what}" if what else "")


def place(trace: TracebackType | None, file: str) -> int:
    """Return the last line of the program in a traceback."""
    lines = [entry.lineno for entry in traceback.extract_tb(trace) if entry.filename == file]
    return next((line for line in reversed(lines) if line), 1)
