"""Compares our verdict with that of other releases of operators, whose webhooks are asked of changed objects.

The objects are the bases of `tests/apiserver/data/webhooks` with one to three of the edits beside them. Needs a cluster
to throw away that runs the releases which `--with` names: it makes the objects that others are judged against, and asks
by dry runs. Fields that a release lacks, whose API types are not among ours, say nothing of its webhooks. Exit code 1
where anything differs.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "platform"), str(ROOT / "tests"), str(ROOT / "tools")]

from apiserver.agreement import hooks  # noqa: E402 - tests/ is no package that is installed
from apiserver.agreement.verdicts import Case, Theirs, theirs  # noqa: E402
from docs_held import owner  # noqa: E402 - beside this file
from trainyard.base.errors import ToolError  # noqa: E402
from trainyard.base.findings import Severity  # noqa: E402
from trainyard.faces.live.server import Server  # noqa: E402
from trainyard.judge.checks.inputs import decode  # noqa: E402
from trainyard.judge.checks.versions import parse_projects  # noqa: E402
from trainyard.upstream.apiserver import Catalog, Judge, Missing, catalog, webhooks  # noqa: E402

EDITS = 3
"""Fields that are changed at most."""


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kubeconfig", type=Path, required=True)
    parser.add_argument("--with", dest="releases", action="append", required=True, help="PROJECT=RELEASE that runs")
    parser.add_argument("--count", type=int, default=200, help="objects of each base")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--answers", type=Path, metavar="FILE", help="write the answers there, as the tests read them")
    return parser.parse_args()


def picked(bases: dict[str, Any], count: int, seed: int) -> Iterator[tuple[str, hooks.Picks, dict[str, Any]]]:
    """Yield objects by chance, each once: every edit alone first, and then several together."""
    edits = hooks.read("edits")
    for name, base in bases.items():
        places = [(number, choice) for number, (_, values) in enumerate(edits[name]) for choice in range(len(values))]
        drawn = random.Random(f"{seed} {name}")
        several = (
            sorted({place[0]: place for place in drawn.sample(places, drawn.randint(2, EDITS))}.values())
            for _ in range(count)
        )
        seen: set[str] = set()
        for picks in ([], *([place] for place in places), *several):
            value = hooks.change(base, edits[name], picks)
            if value is not None and len(seen) < count and (text := json.dumps(value, sort_keys=True)) not in seen:
                seen.add(text)
                yield name, picks, value


def make(server: Server, known: Catalog) -> None:
    """Make the objects that others are judged against, those of the kinds that the cluster serves."""
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "hooks"}}
    for value in (namespace, *hooks.read("around")):
        group, _, version = value["apiVersion"].rpartition("/")
        kind = known.lookup(group, version, value["kind"])
        if not isinstance(kind, Missing):
            answer = server.apply(value, kind, dry_run=False)
            if not answer.accepted:
                raise ToolError(f"{value['kind']} {value['metadata']['name']} was not made: {answer.message}")


def main() -> int:
    """Ask about every object, print what differs, and count."""
    given = arguments()
    server, releases = Server(kubeconfig=given.kubeconfig), parse_projects(given.releases) or {}
    known, _ = catalog.load(ROOT / "schemas", kubernetes=server.version(), projects=releases)
    bases = {name: base for name, base in hooks.read("bases").items() if owner(base, known.shelf) in releases}
    judge = Judge(
        known, around=webhooks.gather_objects(hooks.read("around"), complete=True), refused_later=Severity.WARNING
    )
    make(server, known)

    def both(drawn: tuple[str, hooks.Picks, dict[str, Any]]) -> tuple[str, hooks.Picks, Theirs, list[str]]:
        name, picks, value = drawn
        (manifest,), _ = decode("case.json", json.dumps(value).encode())
        judged = judge.judge(manifest)
        said = [finding.message for finding in judged.findings] if judged.verdict != "valid" else []
        return name, picks, theirs(Case(value), known, server), said

    asked, differ, lines = Counter[str](), Counter[str](), []
    with ThreadPoolExecutor(given.threads) as pool:
        for name, picks, real, said in pool.map(both, picked(bases, given.count, given.seed)):
            project = owner(bases[name], known.shelf)
            of_types = "unknown field" in real.reason and not known.shelf.carries(project, releases[project])
            if of_types or not (real.told or real.valid):
                continue
            asked[project] += 1
            lines.append(json.dumps([name, picks, "valid" if real.valid else "refused", real.reason[:70]]))
            if real.valid != (not said):
                differ[project] += 1
                print(f"{name} {picks}: {real.reason[:200] or 'valid'}; ours: {'; '.join(said)[:200] or 'valid'}")
    for project, release in sorted(releases.items()):
        print(f"{project} {release}: {asked[project]} cases, {differ[project]} differ")
    if given.answers:
        given.answers.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return int(bool(differ))


if __name__ == "__main__":
    sys.exit(main())
