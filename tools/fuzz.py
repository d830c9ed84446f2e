"""Damage what the repository holds and make up the rest, and say where a reader of it fails, dawdles or grows.

A traceback, a second of CPU or a gibibyte of memory for one case is a fault. Every case follows from the seed, its sort
and its number, so that `--only job/417` tries one again:

    python tools/fuzz.py --count 100000 --seed 7
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import yaml

import fuzz_grammar as grammar
from fuzz_checkouts import checkout
from trainyard.base.system.unforeseen import TRACEBACK
from trainyard.faces.report import FORMATS, render
from trainyard.judge.checks.validate import strangers
from trainyard.judge.preflight import check_cluster, jobs
from trainyard.render.kinds import Resolved
from trainyard.specs import Cluster, Repository, Team
from trainyard.specs.load import Loaded, read_repository
from trainyard.specs.models.job import Job
from trainyard.specs.reading import document, python_jobs
from trainyard.specs.reading.layout import Place
from trainyard.specs.sources import JobFile
from trainyard.upstream.apiserver import catalog
from trainyard.upstream.apiserver.cel import BOOL, DYN, CompileError, Environment

ROOT = Path(__file__).resolve().parents[1]
SECOND, GIBIBYTE = 1.0, 2**30
PATIENCE_SECONDS = 20
"""After which a case is broken off."""


@cache
def repository() -> Loaded:
    """Return the repository's specs, which most cases stand among."""
    return read_repository(ROOT)


@cache
def texts(folder: str) -> list[bytes]:
    """Return the files of a folder."""
    return [path.read_bytes() for path in sorted((ROOT / folder).rglob("*.yaml"))]


@cache
def objects() -> list[dict[str, Any]]:
    """Return objects of the repository's tree, every ninth."""
    found = [one_document for text in texts("generated")[::9] for one_document in yaml.load_all(text, yaml.CSafeLoader)]
    return [one_document for one_document in found if isinstance(one_document, dict)]


def damaged(chance: random.Random, folder: str) -> bytes:
    """Return a file of a folder with something changed in it, in its values or its letters."""
    text = chance.choice(texts(folder))
    if chance.random() < 0.25:
        return grammar.spliced(chance, text)
    return as_text(chance, grammar.mutated(chance, yaml.load(text, yaml.CSafeLoader)))


def as_text(chance: random.Random, value: Any) -> bytes:
    """Return a value as JSON or, where YAML can say it, as that."""
    if chance.random() < 0.5:
        return yaml.dump(value, Dumper=yaml.CSafeDumper, allow_unicode=True).encode("utf-8", "surrogatepass")
    return json.dumps(value, default=str).encode()


def manifest(chance: random.Random) -> None:
    """Judge an object of the tree that was changed, and report it in every format."""
    value = chance.choice(objects())
    text = (
        grammar.spliced(chance, as_text(chance, value))
        if chance.random() < 0.2
        else as_text(chance, grammar.mutated(chance, value))
    )
    judge(chance, text)


def definition(chance: random.Random) -> None:
    """Judge a definition that was made up, and a resource of it."""
    judge(chance, b"\n---\n".join(json.dumps(one_document).encode() for one_document in grammar.definition(chance)))


def judge(chance: random.Random, text: bytes) -> None:
    """Judge one file of a stranger's; the kinds are opened once, as for the files of one command."""
    result = strangers([("fuzz.yaml", text)], ROOT / "schemas", kubernetes="1.35")
    render(result, chance.choice(FORMATS))


@cache
def environment() -> Environment:
    """Return where expressions are evaluated."""
    return Environment({"self": DYN, "oldSelf": DYN, "object": DYN}, 35)


def expression(chance: random.Random) -> None:
    """Compile an expression, and evaluate it on a value."""
    try:
        program = environment().compile(grammar.expression(chance), *([BOOL] if chance.random() < 0.2 else []))
    except CompileError:
        return
    value = grammar.value(chance)
    program.evaluate({"self": value, "oldSelf": value, "object": chance.choice(objects())})
    environment()._programs.clear()


def job(chance: random.Random) -> None:
    """Read a job that was changed, now and then with a long list, size it and build its objects."""
    text = damaged(chance, "jobs")
    if chance.random() < 0.2:
        value = yaml.load(chance.choice(texts("jobs")), yaml.CSafeLoader)
        text = json.dumps({**value, **grammar.lengthy(chance)}, default=str).encode()
    built(spec(text, Job))


def patch(chance: random.Random) -> None:
    """Build the objects of a job with a patch that was made up."""
    value = yaml.load(chance.choice(texts("jobs")), yaml.CSafeLoader)
    kinds = ["Job", "JobSet", "Pod", "Service", "ConfigMap", "TrainJob", "PyTorchJob"]
    value["patches"] = [
        {"object": kind, "reason": "x", "merge": grammar.merge(chance)} for kind in chance.sample(kinds, 2)
    ]
    if chance.random() < 0.4:
        value["patches"] += [grammar.sized(chance) for _ in range(chance.choice((1, 2, 98)))]
    if chance.random() < 0.2:
        value["containers"] = [grammar.container(chance, number) for number in range(chance.choice((1, 3, 50)))]
    built(spec(json.dumps(value, default=str).encode(), Job))


def built(read: Any) -> None:
    """Check a job among the repository's specs, and build its objects where nothing is wrong with it."""
    found, source = read
    if found is None:
        return
    resolved, _ = jobs.check(repository().specs, JobFile("nlp", "fuzz", found, source))
    if isinstance(resolved, Resolved):
        for resource_ in resolved.kind.build(resolved):
            json.dumps(resource_.value(), default=str)


def spec(text: bytes, model: Any) -> tuple[Any, Any]:
    """Read a spec as its reader does."""
    source, _ = document.read("jobs/nlp/fuzz.yaml", text)
    return (None, None) if source is None else (document.validate(model, source)[0], source)


def cluster(chance: random.Random) -> None:
    """Read a cluster that was changed, and look at its parts."""
    found, source = spec(damaged(chance, "platform/clusters"), Cluster)
    if found is not None:
        loaded = repository()
        specs = replace(
            loaded.specs,
            clusters={**loaded.specs.clusters, "fuzz": found},
            sources={**loaded.specs.sources, "cluster/fuzz": source},
        )
        check_cluster(replace(loaded, specs=specs), "fuzz", ROOT / "schemas")


def team(chance: random.Random) -> None:
    """Read a team that was changed, or the repository's settings."""
    if chance.random() < 0.7:
        spec(damaged(chance, "platform/teams"), Team)
        return
    text = yaml.load((ROOT / "platform/repository.yaml").read_bytes(), yaml.CSafeLoader)
    spec(as_text(chance, grammar.mutated(chance, text)), Repository)


def answer(chance: random.Random) -> None:
    """Read what a program that makes jobs might answer, were it not the one that we start."""
    right = {"jobs": [{"name": "x-a", "line": 3, "job": {"cluster": "atlas"}}], "problems": [], "printed": "x"}
    text = json.dumps(grammar.mutated(chance, right), default=str).encode()
    found = python_jobs.parse_answer(grammar.spliced(chance, text) if chance.random() < 0.3 else text)
    for item in found.get("jobs", ()):
        python_jobs.validate_job(Place("jobs/nlp/x.py", "nlp", "x", 100), item)


SORTS: dict[str, tuple[int, Callable[[random.Random], None]]] = {
    "manifest": (34, manifest),
    "definition": (12, definition),
    "expression": (20, expression),
    "job": (10, job),
    "patch": (8, patch),
    "cluster": (4, cluster),
    "team": (6, team),
    "answer": (5, answer),
    "checkout": (1, checkout),
}
"""Sorts of cases, each with its share in a hundred."""


def tried(name: str, seed: int, number: int, *, again: bool = False) -> str | None:
    """Try one case and return its fault; one that is slow is tried again, since the first loads API types."""
    chance = random.Random(f"{seed}/{name}/{number}")
    before, started = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    signal.setitimer(signal.ITIMER_VIRTUAL, PATIENCE_SECONDS)
    try:
        SORTS[name][1](chance)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        where = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__} at {Path(where.filename).name}:{where.lineno}: {str(error)[:120]}"
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    spent = time.process_time() - started
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    if spent > SECOND:
        return f"{spent:.1f} s" if again else tried(name, seed, number, again=True)
    return f"{grown / GIBIBYTE:.1f} GiB" if grown > GIBIBYTE else None


def numbered(count: int) -> Iterator[tuple[str, int]]:
    """Yield sorts and numbers of cases in their shares."""
    chance, numbers = random.Random(count), Counter[str]()
    names, shares = list(SORTS), [share for share, _ in SORTS.values()]
    for name in chance.choices(names, shares, k=count):
        numbers[name] += 1
        yield name, numbers[name]


def broken_off(*_: object) -> None:
    """Break a case off."""
    raise TimeoutError(f"more than {PATIENCE_SECONDS} s")


def run(count: int, seed: int, seconds: float) -> tuple[Counter[str], list[str]]:
    """Try cases until there are enough or the time is over; return how many of each sort, and the faults."""
    signal.signal(signal.SIGVTALRM, broken_off)
    os.environ[TRACEBACK] = "1"
    known = catalog.load(ROOT / "schemas", kubernetes="1.35")
    catalog.load = lambda *_, **__: known  # type: ignore[assignment]
    repository(), objects()
    done, faults, ends = Counter[str](), list[str](), time.monotonic() + seconds
    for name, number in numbered(count):
        if time.monotonic() > ends:
            break
        done[name] += 1
        if fault := tried(name, seed, number):
            faults.append(f"{name}/{number}: {fault}")
            print(faults[-1], file=sys.stderr, flush=True)
    return done, faults


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000, help="how many cases")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="how long at most")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", metavar="SORT/NUMBER", help="one case, with its traceback")
    given = parser.parse_args()
    if given.only:
        name, _, number = given.only.partition("/")
        SORTS[name][1](random.Random(f"{given.seed}/{name}/{int(number)}"))
        return 0
    done, faults = run(given.count, given.seed, given.seconds)
    counts = ", ".join(f"{number} {name}" for name, number in sorted(done.items()))
    print(f"{sum(done.values())} cases ({counts}): {len(faults)} faults")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
