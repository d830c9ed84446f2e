"""Compares our verdict with that of other releases of operators, whose webhooks are asked of changed objects.

The objects are the bases of `tests/apiserver/data/webhooks` with one to three of the edits beside them. Needs a cluster
to throw away that runs the releases which `--with` names: it makes the objects that others are judged against, and asks
by dry runs. Fields that a release lacks, whose API types are not among ours, say nothing of its webhooks. Exit code 1
where anything differs.

With --updates objects are made first, each with at most one edit, and then changed. With --configuration we judge as if
Kueue ran with that file, with which `tools/oracles/cluster/configure` starts it.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "platform"), str(ROOT / "tests"), str(ROOT / "tools")]

from apiserver.agreement import hooks  # noqa: E402 - tests/ is no package that is installed
from apiserver.agreement.verdicts import Case, Theirs, theirs, verdict  # noqa: E402
from docs_held import owner  # noqa: E402 - beside this file
from trainyard.base import documents as yaml  # noqa: E402
from trainyard.base.errors import ToolError  # noqa: E402
from trainyard.base.findings import Severity  # noqa: E402
from trainyard.faces.live.server import Server  # noqa: E402
from trainyard.judge.checks.inputs import decode  # noqa: E402
from trainyard.judge.checks.versions import parse_projects  # noqa: E402
from trainyard.upstream.apiserver import Catalog, Judge, Missing, catalog, webhooks  # noqa: E402
from trainyard.upstream.kueue.scope import scope_of  # noqa: E402

EDITS = 3
"""Fields that are changed at most."""

UNKNOWN = ("unknown field", "field not declared in schema")
"""How a server says that a field is none; where it applies a change, it may drop the field without a word."""

NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "hooks"}}
"""The namespace of all objects."""

CHANGES = 12
"""Changes that are asked of one object that was made."""


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kubeconfig", type=Path, required=True)
    parser.add_argument("--with", dest="releases", action="append", required=True, help="PROJECT=RELEASE that runs")
    parser.add_argument("--count", type=int, default=200, help="objects of each base")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--answers", type=Path, metavar="FILE", help="write the answers there, as the tests read them")
    parser.add_argument("--updates", type=int, metavar="COUNT", help="change so many objects of each base instead")
    parser.add_argument("--base", action="append", help="ask about this base alone; repeatable")
    parser.add_argument("--configuration", type=Path, metavar="FILE", help="Kueue's configuration, as it runs")
    return parser.parse_args()


class Asked(NamedTuple):
    """An object that is asked about."""

    name: str
    picks: hooks.Picks
    value: dict[str, Any]
    old: dict[str, Any] | None = None
    before: hooks.Picks = []  # noqa: RUF012  # of a tuple, never changed

    def line(self, real: Theirs) -> str:
        """Return the case with an answer, as the tests read it."""
        said = "valid" if real.valid else "refused", real.reason[:70]
        picks = (self.picks,) if self.old is None else (self.before, self.picks)
        return json.dumps([self.name, *picks, *said])


def picked(name: str, base: dict[str, Any], count: int, seed: int) -> Iterator[Asked]:
    """Yield objects by chance, each once: every edit alone first, and then several together."""
    edits = hooks.read("edits")[name]
    places = [(number, choice) for number, (_, values) in enumerate(edits) for choice in range(len(values))]
    drawn = random.Random(f"{seed} {name}")
    several = (
        sorted({place[0]: place for place in drawn.sample(places, drawn.randint(2, EDITS))}.values())
        for _ in range(count)
    )
    seen: set[str] = set()
    for picks in ([], *([place] for place in places), *several):
        value = hooks.change(base, edits, picks)
        if value is not None and len(seen) < count and (text := json.dumps(value, sort_keys=True)) not in seen:
            seen.add(text)
            yield Asked(name, picks, value)


def changes(name: str, base: dict[str, Any], count: int, seed: int) -> Iterator[tuple[Asked, list[Asked]]]:
    """Yield objects to make, each with changes to it that are drawn by chance."""
    base = hooks.settled(name, base)
    edits, drawn = hooks.read("edits")[name], random.Random(f"{seed} update {name}")
    places = [(number, choice) for number, (_, values) in enumerate(edits) for choice in range(len(values))]
    first = list(picked(name, base, len(places) + 1, seed))
    for number, old in enumerate((first[0], *drawn.sample(first[1:], min(len(first) - 1, count // CHANGES)))):
        after = []
        for picks in [[place] for place in drawn.sample(places, CHANGES - 2)] + [sorted(drawn.sample(places, 2))]:
            value = hooks.change(old.value, edits, picks)
            if value is not None and value != old.value and whose(value) == whose(old.value):
                after.append(Asked(name, picks, renamed(value, number), renamed(old.value, number), old.picks))
        again = renamed(old.value, number)
        yield old._replace(value=again), [Asked(name, [], again, again, old.picks), *after]


def whose(value: dict[str, Any]) -> tuple[Any, Any]:
    """Return the namespace and the name of an object, neither of which can change."""
    return value["metadata"].get("namespace"), value["metadata"].get("name")


def renamed(value: dict[str, Any], number: int) -> dict[str, Any]:
    """Return an object under a name of its own: one that is deleted may still be there under the name that it had."""
    name = value["metadata"]["name"]
    return {**value, "metadata": {**value["metadata"], "name": f"{name}-{number}" if isinstance(name, str) else name}}


def make(server: Server, known: Catalog) -> None:
    """Make the objects that others are judged against, those of the kinds that the cluster serves."""
    for value in (NAMESPACE, *hooks.read("around")):
        group, _, version = value["apiVersion"].rpartition("/")
        kind = known.lookup(group, version, value["kind"])
        if not isinstance(kind, Missing):
            answer = server.apply(value, kind, dry_run=False)
            if not answer.accepted:
                raise ToolError(f"{value['kind']} {value['metadata']['name']} was not made: {answer.message}")


@contextmanager
def hold_object(server: Server, known: Catalog, value: dict[str, Any]) -> Iterator[bool]:
    """Make an object for a while; false where it is refused."""
    group, _, version = value["apiVersion"].rpartition("/")
    kind = known.lookup(group, version, value["kind"])
    assert not isinstance(kind, Missing)
    accepted = server.apply(value, kind, dry_run=False).accepted
    try:
        yield accepted
    finally:
        if accepted:
            server.delete(value, kind)


def ask_change(server: Server, known: Catalog, value: dict[str, Any]) -> Theirs:
    """Ask about a change of what is there."""
    group, _, version = value["apiVersion"].rpartition("/")
    kind = known.lookup(group, version, value["kind"])
    assert not isinstance(kind, Missing)
    return verdict(apply=server.apply(value, kind))


def main() -> int:
    """Ask about every object, print what differs, and count."""
    given = arguments()
    server, releases = Server(kubeconfig=given.kubeconfig), parse_projects(given.releases) or {}
    known, _ = catalog.load(ROOT / "schemas", kubernetes=server.version(), projects=releases)
    bases = {name: base for name, base in hooks.read("bases").items() if owner(base, known.shelf) in releases}
    bases = {name: base for name, base in bases.items() if name in (given.base or bases)}
    around = webhooks.gather_objects([NAMESPACE, *hooks.read("around")], complete=True)
    if given.configuration:
        said = yaml.load(given.configuration.read_bytes(), file=str(given.configuration))[0][0].value
        around = replace(around, scope=scope_of(said))
    judge = Judge(known, around=around, refused_later=Severity.WARNING)
    make(server, known)

    def both(case: Asked) -> tuple[Asked, Theirs, list[str]]:
        (manifest,), _ = decode("case.json", json.dumps(case.value).encode())
        judged = judge.judge(manifest, old=case.old)
        ours = [finding.message for finding in judged.findings] if judged.verdict != "valid" else []
        real = theirs(Case(case.value), known, server) if case.old is None else ask_change(server, known, case.value)
        return case, real, ours

    def of_base(name: str) -> Iterator[tuple[Asked, Theirs, list[str]]]:
        if given.updates is None:
            yield from map(both, picked(name, bases[name], given.count, given.seed))
            return
        for old, after in changes(name, bases[name], given.updates, given.seed):
            with hold_object(server, known, old.value) as accepted:
                yield from map(both, after if accepted else ())

    asked, differ, lines = Counter[str](), Counter[str](), []
    with ThreadPoolExecutor(given.threads) as pool:
        for name, found in zip(bases, pool.map(lambda name: list(of_base(name)), bases), strict=True):
            project = owner(bases[name], known.shelf)
            for case, real, ours in found:
                of_types = any(text in real.reason for text in UNKNOWN) and not known.shelf.carries(
                    project, releases[project]
                )
                if of_types or not (real.told or real.valid):
                    continue
                asked[project] += 1
                lines.append(case.line(real))
                if real.valid != (not ours):
                    differ[project] += 1
                    print(f"{case.line(real)}; {real.reason[:200]}; ours: {'; '.join(ours)[:200] or 'valid'}")
    for project, release in sorted(releases.items()):
        print(f"{project} {release}: {asked[project]} cases, {differ[project]} differ")
    if given.answers:
        given.answers.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return int(bool(differ))


if __name__ == "__main__":
    sys.exit(main())
