"""Compares our verdict with that of a real API server on thousands of changed objects, and prints the confusion table.

Needs a kube-apiserver whose CRDs are those of `schemas/`, and asks it by dry runs. `--updates` makes objects for real,
so the cluster must be one to throw away. Exit code 1 where more than 0.5 % of either verdict are wrong, 2 where
`--only` names kinds whose webhooks we judge as well and the server has none of them.

Other engines judge the same cases: kubeconform, which `make setup` installs, and kubectl-validate, which
`go install sigs.k8s.io/kubectl-validate@v0.0.4` builds; the latter reads CRDs and core types from the server.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "platform"), str(ROOT / "tests"), str(ROOT / "tools")]

import schemas  # noqa: E402 - beside this file
from apiserver.agreement import cases, record  # noqa: E402 - tests/ is no package that is installed
from apiserver.agreement.peers import kubeconform_verdicts, kubectl_validate_verdicts  # noqa: E402
from apiserver.agreement.verdicts import Case, Ours, Table, Theirs, ours, tabulate, theirs  # noqa: E402
from trainyard.base.errors import ToolError  # noqa: E402
from trainyard.base.system import vendored  # noqa: E402
from trainyard.faces.live.server import Server  # noqa: E402
from trainyard.judge.checks.versions import parse_projects  # noqa: E402
from trainyard.upstream.apiserver import catalog  # noqa: E402
from trainyard.upstream.apiserver.catalog import Catalog  # noqa: E402
from trainyard.upstream.apiserver.webhooks import ADMISSION  # noqa: E402

LIMIT = 0.005
"""Share of wrong verdicts above which the run fails."""


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kubeconfig", type=Path, required=True)
    parser.add_argument("--with", dest="releases", action="append", help="PROJECT=RELEASE where it is not the newest")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--cases", type=int, default=12_000, help="objects to create")
    parser.add_argument("--updates", type=int, default=0, help="changes to objects that are made for real before")
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument(
        "--record", type=int, metavar="N", help="write N of the cases to tests/apiserver/agreement/cases.jsonl"
    )
    parser.add_argument(
        "--only", action="append", metavar="PROJECT", help="only kinds of this project; its count goes to the lock"
    )
    parser.add_argument("--differences", type=Path, help="write every disagreement there, as JSON lines")
    parser.add_argument(
        "--kubeconform", action="store_true", help="also count kubeconform's verdicts on the same cases"
    )
    parser.add_argument(
        "--kubectl-validate", metavar="BINARY", help="also count kubectl-validate's, with the server's own types"
    )
    parser.add_argument("--objects", action="store_true", help="first look for valid objects of every kind anew")
    return parser.parse_args()


def main() -> int:
    """Run, print the table and the disagreements."""
    given = arguments()
    server = Server(kubeconfig=given.kubeconfig)
    newest, _ = catalog.load(ROOT / "schemas", kubernetes=server.version())
    releases = {**newest.projects, **(parse_projects(given.releases) or {})}
    known, _ = catalog.load(ROOT / "schemas", kubernetes=server.version(), projects=releases)
    if given.objects:
        record.write_objects(known, server, threads=given.threads)
    chosen = groups(known, given.only)
    if silent := groups_without_webhook(chosen or {}, groups_with_webhook(server)):
        print(f"the server has no webhook for {', '.join(silent)}, which we judge too: start the operator beside it")
        return 2
    everything = chain(
        cases.creations(known, seed=given.seed, count=given.cases, groups=chosen and frozenset(chosen)),
        cases.updates(known, seed=given.seed, count=given.updates) if chosen is None else (),
    )

    def both(case: Case) -> tuple[Case, Ours, Theirs]:
        return case, ours(case, known), theirs(case, known, server)

    started, table, rows = time.monotonic(), Table(known), []
    with ThreadPoolExecutor(given.threads) as pool:
        for row in pool.map(both, everything):
            table.add(*row)
            rows.append(row)
    print(table.text())
    seconds = f"{time.monotonic() - started:.0f} s, Kubernetes {server.version()}, seed {given.seed}"
    print(f"{len(rows)} cases, {len(table.differences)} differ; {seconds}")
    for cell, case, mine, real in sorted(table.differences, key=lambda difference: difference[0]):
        print(f"{cell}: {case.object.get('kind')}: {case.note}: {mine.reason or real.reason}"[:300])
    if given.differences:
        given.differences.write_text(
            "".join(json.dumps(record.difference(*difference)) + "\n" for difference in table.differences)
        )
    if chosen is not None:
        note(
            server.version(),
            known,
            chosen,
            [case for case, _, _ in rows],
            [case for _, case, _, _ in table.differences],
        )
    engines: dict[str, Callable[[Sequence[Case]], list[Ours]]] = {}
    if given.kubeconform:
        engines["kubeconform"] = lambda created: kubeconform_verdicts(created, known, ROOT)
    if binary := given.kubectl_validate:
        engines["kubectl-validate"] = lambda created: kubectl_validate_verdicts(created, server, binary)
    if engines:
        compare(engines, [row for row in rows if row[0].old is None], known)
    if given.record:
        record.write_cases(rows, known, limit=given.record)
    return 1 if table.worst() > LIMIT else 0


def groups(known: Catalog, projects: Sequence[str] | None) -> dict[str, str] | None:
    """Return the project of each API group of some projects; None where all are meant."""
    if projects is None:
        return None
    releases = {name: known.projects[name] for name in projects}
    kinds = {name: vendored.kinds(ROOT / "schemas", name, release) for name, release in releases.items()}
    return {kind["group"]: name for name, listed in kinds.items() for kind in listed}


def groups_with_webhook(server: Server) -> frozenset[str]:
    """Return the API groups that the webhooks of a server judge; `*` where one judges all."""
    found: set[str] = set()
    for kind in ("mutatingwebhookconfigurations", "validatingwebhookconfigurations"):
        answer, body = server.request("GET", f"/apis/admissionregistration.k8s.io/v1/{kind}")
        if not answer.accepted:
            raise ToolError(f"the webhooks of the server cannot be listed: {answer.message}")
        hooks = chain.from_iterable(item.get("webhooks") or () for item in body.get("items") or ())
        rules = chain.from_iterable(hook.get("rules") or () for hook in hooks)
        found.update(chain.from_iterable(rule.get("apiGroups") or () for rule in rules))
    return frozenset(found)


def groups_without_webhook(chosen: Mapping[str, str], answering: Collection[str]) -> list[str]:
    """Return the API groups whose webhooks we restate, and that no webhook of the server judges."""
    ours_too = {group for group, _ in ADMISSION}
    return sorted(group for group in chosen if group in ours_too and not {group, "*"} & set(answering))


def note(
    kubernetes: str, known: Catalog, chosen: Mapping[str, str], asked: Sequence[Case], differ: Sequence[Case]
) -> None:
    """Write into the lock how many objects of each project the server judged, and how many of them otherwise."""
    lock = schemas.read(ROOT / "schemas" / schemas.LOCK)
    counts = [Counter(chosen.get(group_of(case), "") for case in one_list) for one_list in (asked, differ)]
    for project in sorted(set(chosen.values())):
        entry = lock["projects"][project][known.projects[project]]
        entry["asked"] = {"kubernetes": kubernetes, "cases": counts[0][project], "differ": counts[1][project]}
    schemas.write(ROOT / "schemas" / schemas.LOCK, lock)


def group_of(case: Case) -> str:
    """Return the API group of a case's object, as far as it says one."""
    said = case.object.get("apiVersion")
    return said.rpartition("/")[0] if isinstance(said, str) else ""


def compare(
    engines: Mapping[str, Callable[[Sequence[Case]], list[Ours]]], rows: Sequence[record.Row], known: Catalog
) -> None:
    """Print what other engines and we make of the cases that are created, by the layer that decides."""
    print("\nobjects that are created only:")
    verdicts = {name: ask([case for case, _, _ in rows]) for name, ask in engines.items()}
    for name, found in {**verdicts, "ours": [mine for _, mine, _ in rows]}.items():
        table = tabulate(((case, answer, real) for (case, _, real), answer in zip(rows, found, strict=True)), known)
        print(f"{name}: {table.rates()}\n{table.text(by_kind=False)}\n")


if __name__ == "__main__":
    sys.exit(main())
