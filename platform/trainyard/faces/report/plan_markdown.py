"""A plan as Markdown: a headline, tables of queues and runs, changes of the platform, objects folded away."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from urllib.parse import quote

from trainyard.base.findings import count_of
from trainyard.change.plan.decide.queues import verdict
from trainyard.change.plan.effects import Plan, RunEffect
from trainyard.change.plan.words.decisions import decision_lines, next_lines
from trainyard.change.plan.words.groups import Group, groups
from trainyard.change.plan.words.headline import warnings
from trainyard.change.plan.words.maintenance import maintenance_lines
from trainyard.change.plan.words.objects import object_lines, platform_lines
from trainyard.change.plan.words.runs import change, mark_lines
from trainyard.change.plan.words.text import ASKED, HEAD, closing, clusters, rebuilding, shorten, states, step
from trainyard.faces.report.legible import in_address
from trainyard.faces.report.marks import escaped, fence, sentence

ROWS = 30
"""Rows of a table of runs, and lines about the objects of a cluster, unless all are asked for."""

NAMED = 4
"""Runs of a group, fields of a change, and warnings of a sort that are named."""

WARNINGS = 12

DONE = {
    "starts": "starts",
    "returns": "**brought back, which is refused**",
    "replaces": "replaced",
    "moves": "moved here",
    "leaves": "moved away",
    "stops": "**stops**",
    "changes": "**edited**",
    "keeps": "unchanged",
}

SEVERAL = {**DONE, "starts": "start", "stops": "**stop**"}
GONE = frozenset({"stops", "leaves"})
"""What happens to runs whose files are not there any more."""


Pictures = Mapping[str, Sequence[tuple[str, str]]]
"""Title and path of the pictures of a cluster."""

OF_ADDRESSES = ":/?&=#%+~,.@-_"
"""Characters of an address that end no link in Markdown."""


def render(
    plan: Plan, room: int, *, files_at: str = "", everything: bool = False, pictures: Pictures | None = None
) -> str:
    """Return a plan as Markdown, the same for the same plan; what does not fit into so many characters is counted.

    Links lead to the files of the commit, where `files_at` says where those are.
    """
    parts = list(blocks(plan, files_at, pictures or {}, everything=everything))
    kept: list[str] = []
    for number, part in enumerate(parts):
        room -= len(part) + 2
        if room < 0 and kept:
            left = len(parts) - number
            return "\n\n".join(
                [*kept, f"{count_of(left, 'more part')} left out; `trainyard plan` prints all", *parts[-1:]]
            )
        kept.append(part)
    return "\n\n".join(kept)


def blocks(plan: Plan, at: str, pictures: Pictures, *, everything: bool) -> Iterator[str]:
    """Yield the parts of a plan: warnings, what it is compared with, queues, and the effects on each cluster."""
    if marked := shorten(list(warnings(plan)), WARNINGS, everything=everything):
        yield "\n".join(f"* ⚠️ {sentence(warning)}" for warning in marked)
    yield " · ".join(map(sentence, (f"compared with {plan.compared}", *states(plan))))
    if plan.queues:
        yield "\n".join(queue_table(plan))
    if decided := decision_lines(plan.decisions, everything=everything):
        yield "\n".join(f"- {sentence(item)}" for item in shorten(decided, ROWS, everything=everything))
    if following := next_lines(plan.next_runs, everything=everything):
        yield "\n".join(f"* {sentence(item)}" for item in shorten(following, ROWS, everything=everything))
    for cluster in sorted({*clusters(plan), *pictures}):
        yield from of_cluster(plan, cluster, at, pictures.get(cluster, ()), everything=everything)
    if common := [f"- {flagged(line)}" for line in platform_lines(plan, "")]:
        yield "\n".join(["#### all clusters", "", *common])
    last = [closing(plan), *(rebuilding(plan.rebuild) if plan.rebuild else ())]
    yield "\n\n".join(map(sentence, last))


def flagged(line: str) -> str:
    """Return a line about the platform, with a sign where text has a mark for it."""
    return f"⚠️ {sentence(line.removeprefix('! '))}" if line.startswith("! ") else sentence(line)


def queue_table(plan: Plan) -> Iterator[str]:
    """Yield the table of queues in which something changes."""
    yield f"| {' | '.join(HEAD)} |"
    yield "|---|---|---|---|---|---|---|"
    for row in plan.queues:
        quota, asked = step(row.quota_before, row.quota_after), step(row.asked_before, row.asked_after)
        cells = (row.cluster, row.queue, row.pool, row.unit, quota, asked, verdict(row))
        yield f"| {' | '.join(map(escaped, cells))} |"
    yield ""
    yield f"<sub>{escaped(ASKED)}</sub>"


def of_cluster(
    plan: Plan, cluster: str, at: str, drawn: Sequence[tuple[str, str]], *, everything: bool
) -> Iterator[str]:
    """Yield the parts about a cluster: pictures, runs, changes of its file, and objects."""
    found = groups(plan, cluster, everything=everything)
    told = [f"- {flagged(line)}" for line in platform_lines(plan, cluster)]
    effects = [obj for obj in plan.objects if obj.cluster == cluster]
    if found or told or effects or drawn:
        yield f"#### cluster {escaped(cluster)}"
    yield from (f"![{escaped(title)}]({in_address(path)})" for title, path in drawn)
    if found:
        yield "\n".join(run_table(found, at, everything=everything))
    if told:
        yield "\n".join(told)
    if outages := list(maintenance_lines(plan, cluster, everything=everything)):
        yield "\n".join(nested(outages))
    if effects:
        first, *lines = object_lines(plan, cluster, everything=everything)
        text = "\n".join(shorten(lines, ROWS, everything=everything))
        summary = f"<summary>{escaped(first)}</summary>"
        yield f"<details>{summary}\n\n{fence(text)}text\n{text}\n{fence(text)}\n\n</details>"


def nested(lines: Iterable[str]) -> Iterator[str]:
    """Yield indented lines as a list of lists."""
    for line in lines:
        text = line.lstrip(" ")
        yield f"{line[: len(line) - len(text)]}- {flagged(text)}"


def run_table(found: Sequence[Group], at: str, *, everything: bool) -> Iterator[str]:
    """Yield the table of runs, a row for each or for those that are told as one."""
    yield "| job | run | changed fields | GPUs × hours | past work | review |"
    yield "|---|---|---|---|---|---|"
    shown = found if everything else found[:ROWS]
    yield from (f"| {' | '.join(cells(group, at))} |" for group in shown)
    if len(shown) < len(found):
        rest = sum(len(group.effects) for group in found[len(shown) :])
        yield f"| | {count_of(rest, 'more run')}: `trainyard plan --all` | | | | |"


def cells(group: Group, at: str) -> Iterator[str]:
    """Yield the cells of a row."""
    first, count = group.first, len(group.effects)
    yield job(group, at)
    happens = f"{count_of(count, 'run')} {SEVERAL.get(first.word, first.word)}" if count > 1 else what(first, at)
    yield happens + misfits(group) + (pages(first) if count == 1 else "")
    causes = {effect.because for effect in group.effects}
    fields = first.because if len(causes) == 1 else ()
    more = [f"and {len(fields) - NAMED} more"] if len(fields) > NAMED else []
    yield "<br>".join([*(escaped(change(field)) for field in fields[:NAMED]), *more]) or several(group)
    yield amount(group) + (costs(first) if count == 1 else "")
    yield sentence(first.state if count == 1 else lost(group))
    marks = list(dict.fromkeys(mark for effect in group.effects for mark in effect.marks))
    yield "<br>".join(map(sentence, mark_lines(marks)))


def pages(effect: RunEffect) -> str:
    """Return links to the pages at which people look at a run that begins."""
    found = () if effect.word in GONE else effect.links
    return "".join(f"<br>[{escaped(page)}]({quote(address, safe=OF_ADDRESSES)})" for page, address in found)


def costs(effect: RunEffect) -> str:
    """Return the costs of a lost node to a run that begins, and its check of the network."""
    return "".join(f"<br>{sentence(line)}" for line in effect.costs)


def misfits(group: Group) -> str:
    """Return how many runs never fit, and how many may."""
    counts = ((group.never, "never fits", "never fit"), (group.may, "may fit", "may fit"))
    said = (one if len(group.effects) == 1 else f"{count} of them {many}" for count, one, many in counts if count)
    return "".join(f"<br>**{item}**" for item in said)


def job(group: Group, at: str) -> str:
    """Return the job with a link to its file; of a group the first few jobs."""
    if group.program:
        return link(group.program, group.program, at)
    named = [link(f"{effect.team}/{effect.job}", effect.spec, at) for effect in group.effects[:NAMED]]
    more = [f"and {len(group.effects) - NAMED} more"] if len(group.effects) > NAMED else []
    return "<br>".join([*named, *more])


def link(text: str, path: str, at: str) -> str:
    """Return a link to a file or folder of the repository, a plain name where nobody knows where that is."""
    return f"[{escaped(text)}]({at}/{in_address(path)})" if path and at else escaped(text)


def what(effect: RunEffect, at: str) -> str:
    """Return the effect on one run, with a link to its files."""
    here = link(effect.run, "" if effect.word in GONE else effect.folder, at)
    if effect.word in {"replaces", "returns"} and effect.before:
        return f"{DONE[effect.word]}: {escaped(effect.before)} → {here}"
    if effect.word == "moves":
        return f"{DONE[effect.word]} from {escaped(effect.before_cluster or '')}: {here}"
    return f"{DONE.get(effect.word, effect.word)}: {here}"


def several(group: Group) -> str:
    """Return the fields that changed, of runs that have different values in them."""
    names = dict.fromkeys(field.field for effect in group.effects for field in effect.because)
    return escaped(", ".join(list(names)[:NAMED]))


def amount(group: Group) -> str:
    """Return GPUs, hours, and what they cost; of what stops, what it held."""
    if not group.gpus:
        return escaped(group.first.shape)
    hours = {effect.amount.hours for effect in group.effects}
    span = next(iter(hours)) if len(hours) == 1 else None
    said = f"{group.gpus} × {span:g} h" if span is not None else f"{group.gpus}, {ending(group.effects)}"
    if group.first.word in {"stops", "leaves"}:
        return f"−{group.gpus}"
    total = f" = {group.gpu_hours:,.0f}" if group.gpu_hours is not None else ""
    return said + total + (f"<br>cost {group.cost:,.2f}" if group.cost is not None else "")


def ending(effects: Iterable[RunEffect]) -> str:
    """Return how long runs of several deadlines take."""
    hours = {effect.amount.hours for effect in effects}
    if None not in hours:
        return "different deadlines"
    return "no deadline" if len(hours) == 1 else "some without a deadline"


def lost(group: Group) -> str:
    """Return how much work is lost by runs that are told as one."""
    if group.first.lost == "all":
        return "all work of the old runs is lost"
    if group.first.lost == "some" and group.lost_gpu_hours is not None:
        verb = "lost" if group.first.word == "stops" else "repeated"
        return f"at most {group.lost_gpu_hours:,.0f} GPU-hours since the last checkpoint are {verb}"
    return ""
