"""A plan as text: one sentence an effect, cluster by cluster."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from trainyard.plan.effects import ObjectEffect, Plan, RunEffect

NOTES = {
    "hardware": "synced by hand, drains or reboots nodes",
    "nodes": "for the node image, never synced",
    "argocd": "how Argo CD syncs the cluster",
}
"""What is special about a folder."""


def render(plan: Plan) -> str:
    """Return the plan as text, the same bytes for the same plan."""
    lines = list(opening(plan))
    clusters = sorted({each.cluster for each in plan.runs} | {each.cluster for each in plan.objects})
    for cluster in clusters:
        found = [*run_lines(plan, cluster), *object_lines(plan, cluster)]
        if found:
            lines += ["", cluster, *(f"  {line}" for line in found)]
    lines += ["", closing(plan)] if lines else [closing(plan)]
    return "\n".join(lines) + "\n"


def opening(plan: Plan) -> Iterator[str]:
    """Yield what the plan is compared with, and whether it is of consequence at all."""
    yield f"compared with {plan.base[:12]}" if plan.base else "compared with nothing: all of it is new"
    if not plan.live:
        yield "live is false: no cluster syncs this repository, so nothing starts or stops yet"


def run_lines(plan: Plan, cluster: str) -> Iterator[str]:
    """Yield a sentence for each run of a cluster that does not stay as it is."""
    for effect in plan.runs:
        if effect.cluster == cluster and effect.word != "keeps":
            yield run_line(effect)


def run_line(effect: RunEffect) -> str:
    """Return what happens to one run."""
    name = f"{effect.team}/{effect.run}"
    about = f": {effect.shape}" if effect.shape else ""
    state = f"; {effect.state}" if effect.state else ""
    reason = f", because {' and '.join(effect.because)} changed" if effect.because else ""
    match effect.word:
        case "starts":
            return f"starts {name}{about}"
        case "replaces":
            return f"replaces {effect.team}/{effect.before} by {effect.run}{reason}{about}{state}"
        case "moves":
            return f"starts {name} in place of {effect.before} on {effect.before_cluster}{about}{state}"
        case "stops":
            return f"stops {name}{state}"
        case "changes":
            return f"renders {name} differently"
        case "keeps":
            return f"leaves {name} alone"


def object_lines(plan: Plan, cluster: str) -> Iterator[str]:
    """Yield the changed folders of a cluster, each with a line for every object."""
    folders: dict[str, list[ObjectEffect]] = defaultdict(list)
    for effect in plan.objects:
        if effect.cluster == cluster:
            folders[effect.folder].append(effect)
    for folder, effects in sorted(folders.items()):
        note = NOTES.get(folder.partition("/")[0])
        yield f"{folder}{f' ({note})' if note else ''}"
        for effect in effects:
            yield f"  {object_line(effect)}"


def object_line(effect: ObjectEffect) -> str:
    """Return what happens to one object."""
    fields = ", ".join(effect.fields) + (f" and {effect.more} more" if effect.more else "")
    return f"{effect.word} {effect.object}{f': {fields}' if fields else ''}"


def closing(plan: Plan) -> str:
    """Return the last line: how much of everything."""
    counts = [
        (len(plan.of("starts")), "starts", "start"),
        (len(plan.of("replaces")) + len(plan.of("moves")), "is replaced", "are replaced"),
        (len(plan.of("stops")), "stops", "stop"),
        (len(plan.of("changes")), "is rendered differently", "are rendered differently"),
        (len(plan.of("keeps")), "is left alone", "are left alone"),
    ]
    said = [f"{count} {one if count == 1 else many}" for count, one, many in counts if count]
    runs = f"runs: {', '.join(said)}" if said else "no runs"
    changed = len(plan.objects)
    return f"{runs}; {changed} {'other object changes' if changed == 1 else 'other objects change'}"
