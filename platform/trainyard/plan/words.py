"""A plan as text: what stands against the change first, then one sentence an effect, cluster by cluster."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from trainyard.findings import Finding
from trainyard.plan.effects import ObjectEffect, Plan, Rebuild, RunEffect, RunWord

NOTES = {
    "hardware": "synced by hand, drains or reboots nodes",
    "nodes": "for the node image, never synced",
    "argocd": "how Argo CD syncs the cluster",
}
"""What is special about a folder."""

ERRORS = 40
"""Errors that are told; the commands that find them tell all."""

ENDS = frozenset({"stops", "leaves"})
"""What happens to a run that is not there any more."""

SHOWN = 4
"""Objects of a group that are named."""


def render(plan: Plan) -> str:
    """Return the plan as text, the same bytes for the same plan."""
    lines = list(opening(plan))
    clusters = sorted({each.cluster for each in plan.runs} | {each.cluster for each in plan.objects})
    for cluster in clusters:
        found = [*run_lines(plan, cluster), *object_lines(plan, cluster)]
        if found:
            lines += ["", cluster, *(f"  {line}" for line in found)]
    lines += ["", closing(plan)] if lines else [closing(plan)]
    lines += rebuilding(plan.rebuild) if plan.rebuild else []
    return "\n".join(lines) + "\n"


def opening(plan: Plan) -> Iterator[str]:
    """Yield what stands against the change, what it is compared with, and of which tree the rest is told."""
    if plan.refused:
        yield from refusals([finding for finding in plan.findings if finding.is_error])
    yield f"compared with {plan.base[:12]}" if plan.base else "compared with nothing: all of it is new"
    if plan.told == "synth":
        yield "generated/ is not what the specs say; what follows is what `trainyard synth` would make of it"
    if plan.told == "refused":
        yield "what follows is told of generated/ at hand; what a merge would do is not known while synth refuses"
    if not plan.live:
        yield "live is false: no cluster syncs this repository, so nothing of what follows happens yet"
    if plan.switched == "off":
        yield "live goes from true to false, but clusters sync this repository: what follows happens all the same"
    if plan.switched == "on":
        active = sum(each.word not in ENDS for each in plan.runs)
        runs = "its run starts" if active == 1 else f"all {active} runs start"
        yield f"live goes from false to true: once clusters sync this repository, {runs}, those left alone too"


def refusals(errors: Sequence[Finding]) -> Iterator[str]:
    """Yield that a change is refused, and by what: a place, a sentence and a remedy each."""
    count = "1 error stands" if len(errors) == 1 else f"{len(errors)} errors stand"
    yield f"refused: {count} against this change, which cannot be merged as it is"
    for each in errors[:ERRORS]:
        yield f"{each.location}: {each.severity}: {each.message} [{each.rule}]"
        if each.spec is not None and each.spec != each.location:
            yield f"  from {each.spec}"
        if each.fix:
            yield f"  fix: {each.fix}"
    if len(errors) > ERRORS:
        yield f"and {len(errors) - ERRORS} more, which `trainyard synth --check` and `trainyard validate` name"
    yield ""


ORDER: tuple[RunWord, ...] = ("returns", "stops", "leaves", "replaces", "moves", "changes", "starts")
"""What ends comes first: it is what a reviewer looks for."""


def run_lines(plan: Plan, cluster: str) -> Iterator[str]:
    """Yield a sentence for each run of a cluster that does not stay as it is."""
    for word in ORDER:
        yield from (run_line(effect, live=plan.live) for effect in plan.of(word) if effect.cluster == cluster)


def run_line(effect: RunEffect, *, live: bool = True) -> str:
    """Return what happens to one run."""
    name = f"{effect.team}/{effect.run}"
    about = f": {effect.shape}" if effect.shape else ""
    state = f"; {effect.state}" if effect.state else ""
    reason = f", because {' and '.join(effect.because)} changed" if effect.because else ""
    match effect.word:
        case "starts":
            return f"starts {name}{about}"
        case "returns":
            instead = f" in place of {effect.before}" if effect.before else ""
            return f"brings back {name}{instead}, whose name was used up, which is refused{about}"
        case "replaces":
            return f"replaces {effect.team}/{effect.before} by {effect.run}{reason}{about}{state}"
        case "moves":
            return f"starts {name} in place of {effect.before} on {effect.before_cluster}{about}{state}"
        case "leaves":
            return f"stops {name}, since its job moves to {effect.before_cluster}{about}{state}"
        case "stops":
            return f"stops {name}{about}{state}"
        case "changes":
            return f"edits files of {name}, which is frozen and refused" if live else f"renders {name} differently"
        case "keeps":
            return f"leaves {name} alone"


def object_lines(plan: Plan, cluster: str) -> Iterator[str]:
    """Yield the changed folders of a cluster, those with equal changes together, each with a line for equal objects."""
    folders: dict[str, list[ObjectEffect]] = defaultdict(list)
    for effect in plan.objects:
        if effect.cluster == cluster:
            folders[effect.folder].append(effect)
    alike: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for folder, effects in sorted(folders.items()):
        note = NOTES.get(folder.partition("/")[0])
        alike[(f" ({note})" if note else "", *lines_of(effects, folder))].append(folder)
    for (note, *lines), names in alike.items():
        yield f"{', '.join(names)}{note}"
        yield from (f"  {line}" for line in lines)


def lines_of(effects: Iterable[ObjectEffect], folder: str) -> Iterator[str]:
    """Yield a line for each group of objects of one kind to which the same happens."""
    groups: dict[tuple[str, str, str, tuple[str, ...], int, bool], list[str]] = defaultdict(list)
    for each in effects:
        known = each.object.namespace in {None, folder.rpartition("/")[2]}
        within = "" if known else f"{each.object.namespace}/"
        groups[each.word, each.object.kind, within, each.fields, each.more, each.kept].append(each.object.name)
    for (word, kind, within, fields, more, kept), names in groups.items():
        shown = within + ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")
        what = f"{kind} {shown}".rstrip() if len(names) == 1 else f"{len(names)} {kind} ({shown})"
        change = ", ".join(fields) + (f" and {more} more" if more else "")
        stays = ", kept in the cluster" if kept else ""
        yield f"{word} {what}{stays}{f': {change}' if change else ''}"


def closing(plan: Plan) -> str:
    """Return the last line: how much of everything; of a tree that a merge would not bring no run is left alone."""
    counts = [
        (len(plan.of("returns")), "comes back", "come back"),
        (len(plan.of("starts")), "starts", "start"),
        (len(plan.of("replaces")) + len(plan.of("moves")), "is replaced", "are replaced"),
        (len(plan.of("stops")), "stops", "stop"),
        (len(plan.of("changes")), "is rendered differently", "are rendered differently"),
        (len(plan.of("keeps")) if plan.told != "refused" else 0, "is left alone", "are left alone"),
    ]
    said = [f"{count} {one if count == 1 else many}" for count, one, many in counts if count]
    changed = len(plan.objects)
    if plan.told == "refused" and not said and not changed:
        return "generated/ is as at the base, and says nothing of this change"
    runs = f"runs: {', '.join(said)}" if said else "no runs"
    return f"{runs}; {changed} {'other object changes' if changed == 1 else 'other objects change'}"


def rebuilding(rebuild: Rebuild) -> Iterator[str]:
    """Yield what a cluster that is built anew would start, of which a person may not think before it does."""
    if rebuild.runs:
        runs = f"{rebuild.runs} active {'run' if rebuild.runs == 1 else 'runs'}"
        gpus = f" on {rebuild.gpus} {'GPU' if rebuild.gpus == 1 else 'GPUs'}" if rebuild.gpus else ""
        yield f"on empty clusters {runs} would train{gpus}, finished ones too; `trainyard retire --finished` ends those"
