"""The part of the page on releases that says how far each is held to its real program, made of recordings.yaml."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import fill
from typing import Any

from schemas_yaml import load
from trainyard.base.versions import line, nearest, order
from trainyard.specs.releases import Facts
from trainyard.upstream.apiserver.catalog.releases import CORE, Shelf

RECORDINGS = "tests/recordings.yaml"
HELM = "helm"

HELD = """\
Answers of real programs are recorded beside the tests, and ours must be the same. *Recorded* are the cases that this
release answered, alone or with others. *By chance* are those of a comparison that is not recorded, with the cases that
we decide otherwise. *Types by chance* are objects that an API server judged by the definitions of this release. Types
without that number were compared with others, among the cases of Kubernetes.

*Webhooks by chance* are objects of which the webhooks and controllers of this release said whether they take them;
*read* stands where their sources were compared. Where nothing stands there, they are judged as those of the nearest.
*Changes by chance* are changes to such objects, of which the same was said.

- *asked*: the release itself answered.
- *decided as* another: webhooks, controllers and schedulers of that release answered, and ours are those. API types are
  of the release itself.
- *types*: API types with their rules, defaults and limits, as an API server judges them. No controller was asked.
- *facts*: what it goes with and what it installs. It has no API types of its own."""

CHARTS = "tests/helm/charts.jsonl.gz"
"""What Helm makes of the charts of our clusters."""

OF_CORE = """\
Of the cases of Kubernetes, those that each of its programs answered, by minor. A minor in which a program was not asked
is decided as the nearest one, and `trainyard admit` says so of a scheduler."""

CORE_PROGRAMS = {"apiserver": "kube-apiserver", "kubelet": "kubelet", "scheduler": "kube-scheduler"}
"""The programs of Kubernetes, by the oracle that they are."""

PROGRAMS = """\
Other programs and libraries that answered, with the cases of each."""

Cases = dict[str, Counter[str]]
"""Recorded cases by project and release."""


def held_table(root: Path, known: Mapping[str, Facts]) -> Iterator[str]:
    """Yield the table of releases, and that of programs that are no projects of ours."""
    shelf = Shelf(root / "schemas")
    cases = recorded(root, shelf)
    projects = sorted({*known, *shelf.projects(), CORE})
    typed = load((root / "schemas" / "lock.yaml").read_text(encoding="utf-8"))["projects"]
    yield from (
        HELD,
        "",
        of_charts(root, known),
        "",
        "| project | release | how | recorded | by chance | webhooks by chance | changes by chance | types by chance |",
        "|---|---|---|---|---|---|---|---|",
    )
    for project in projects:
        yield from of_project(project, known.get(project), shelf, cases, typed.get(project, {}))
    yield from core_table(root, by_line(cases[CORE]))
    yield from ("", PROGRAMS, "", "| program | release | recorded |", "|---|---|---|")
    for program in sorted(cases.keys() - set(projects)):
        for release, count in sorted(cases[program].items()):
            yield f"| {program} | {release} | {count:,} |"


def of_charts(root: Path, known: Mapping[str, Facts]) -> str:
    """Return of which operators' charts Helm was not asked what it makes of our values."""
    lines = [row for path in root.glob(CHARTS) for row in gzip.decompress(path.read_bytes()).splitlines()]
    asked = {json.loads(row)["case"]["chart"].partition("/")[0] for row in lines}
    left = [f"`{name}`" for name, facts in known.items() if facts.chart and facts.chart.name not in asked]
    said = "What is rendered for the values of charts is held to Helm"
    return fill(
        f"{said}, but for {', '.join(left[:-1])} and {left[-1]}." if len(left) > 1 else f"{said}.",
        118,
        break_on_hyphens=False,
    )


def of_project(project: str, facts: Facts | None, shelf: Shelf, cases: Cases, lock: Mapping[str, Any]) -> Iterator[str]:
    """Yield the rows of a project: its releases, and others of it that answered, the newest first.

    `lock` says of some releases how many objects an API server judged by their definitions.
    """
    typed, asked = shelf.releases(project), cases.get(project, Counter())
    if project == CORE:
        asked = by_line(asked)
    compared, hooks = (facts.compared, facts.hooks) if facts else ({}, {})
    told = {*typed, *(facts.releases if facts else ()), *asked, *compared, *hooks}
    for release in sorted(told, key=order, reverse=True):
        chance = compared.get(release)
        by_chance = f"{chance.cases:,}, {chance.differ} otherwise" if chance else ""
        count = f"{asked[release]:,}" if release in asked else ""
        hook = hooks.get(release)
        judged_hooks = f"{hook.cases:,}, {hook.differ} otherwise" if hook and hook.cases else "read" if hook else ""
        changed = f"{hook.changes:,}, {hook.changes_differ} otherwise" if hook and hook.changes else ""
        answered = {*asked, *compared, *(name for name, one in hooks.items() if one.cases)}
        how = "asked" if release in answered else f"decided as {nearest(release, answered)}" if answered else ""
        how = how or ("types" if typed else "facts")
        known = release in typed or (facts is not None and release in facts.releases)
        judged = lock.get(release, {}).get("asked")
        types = f"{judged['cases']:,}, {judged['differ']} otherwise" if judged else ""
        offered = release if known else f"{release} (not offered)"
        yield f"| {project} | {offered} | {how} | {count} | {by_chance} | {judged_hooks} | {changed} | {types} |"


def core_table(root: Path, minors: Mapping[str, int]) -> Iterator[str]:
    """Yield the table of Kubernetes' own programs, by minor, the newest first."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in CORE_PROGRAMS.values()}
    for row, lines in answered(root):
        if CORE in row["releases"] and row["oracle"] in CORE_PROGRAMS:
            counts[CORE_PROGRAMS[row["oracle"]]].update(
                {line(release): len(lines) for release in releases_of(row["releases"][CORE])}
            )
    columns = sorted(minors, key=order, reverse=True)
    yield from ("", OF_CORE, "", f"| program | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|")
    for name, found in counts.items():
        yield f"| {name} | {' | '.join(f'{found[minor]:,}' if found[minor] else '' for minor in columns)} |"


def releases_of(said: Any) -> list[str]:
    """Return the releases that a row names, one or several."""
    return [str(release) for release in (said if isinstance(said, list) else [said])]


def by_line(asked: Counter[str]) -> Counter[str]:
    """Return cases of patches as cases of their lines."""
    found: Counter[str] = Counter()
    for release, count in asked.items():
        found[line(release)] += count
    return found


def recorded(root: Path, shelf: Shelf) -> Cases:
    """Return how many cases each release of each project answered; what Helm renders is Helm's answer alone."""
    found: Cases = {}
    for row, lines in answered(root):
        shares = by_project(lines, root / row["bases"], shelf) if "bases" in row else {}
        for project, said in row["releases"].items():
            if row["oracle"] == HELM and project != HELM:
                continue
            for release in releases_of(said):
                found.setdefault(project, Counter())[release] += shares.get(project, len(lines))
    return found


def answered(root: Path) -> Iterator[tuple[Mapping[str, Any], list[bytes]]]:
    """Yield the rows of the recordings, each with its cases."""
    for row in load((root / RECORDINGS).read_text(encoding="utf-8")):
        paths = [path for pattern in row["files"] for path in sorted(root.glob(pattern))]
        yield row, [case for path in paths for case in cases_of(path, row)]


def by_project(lines: list[bytes], bases: Path, shelf: Shelf) -> Counter[str]:
    """Return the cases of each project: a case begins with the name of a base, whose kind the project has."""
    objects = json.loads(bases.read_bytes())
    owners = {name: owner(base, shelf) for name, base in objects.items()}
    return Counter({CORE: len(lines)}) + Counter(owners[json.loads(line)[0]] for line in lines if line)


def owner(base: Mapping[str, Any], shelf: Shelf) -> str:
    """Return the project that has the kind of an object; of a kind of Kubernetes, the one whose webhook looks at it."""
    group = base["apiVersion"].rpartition("/")[0]
    return next(iter(shelf.holders(group, base["kind"])), "kueue")


def cases_of(file: Path, row: Mapping[str, Any]) -> list[bytes]:
    """Return the cases of a file: its lines, or an empty one where the file is a case."""
    if file.suffix == ".json" or row.get("cases") == "files":
        return [b""]
    data = file.read_bytes()
    text = gzip.decompress(data) if file.suffix == ".gz" else data
    return [one_line for one_line in text.splitlines() if one_line.strip() and not one_line.startswith(b"#")]
