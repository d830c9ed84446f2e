"""Judges any manifests: decode, the API server's verdict, and the policies that look at one object."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from trainyard.base.exposed import exposed_credentials
from trainyard.base.findings import Finding, Location
from trainyard.base.manifests import Manifest
from trainyard.base.system import memory, progress
from trainyard.judge.checks import parallel, sorting, twice
from trainyard.judge.checks.inputs import decode
from trainyard.judge.checks.places import option
from trainyard.judge.checks.result import Change, Judged, Outcome, Result
from trainyard.judge.checks.updates import Updates
from trainyard.upstream.apiserver import Catalog, Judge, Judgement, Rulebook, aware, catalog, neighbours
from trainyard.upstream.apiserver.allowed import Allowed
from trainyard.upstream.apiserver.gates import Gates
from trainyard.upstream.apiserver.judge import Apply
from trainyard.upstream.apiserver.neighbours import POLICY

if TYPE_CHECKING:
    from trainyard.judge.policies.policy import Policy

SHARE = 100
"""Objects that a process judges before it hands over what it found."""


def strangers(
    inputs: Iterable[tuple[str, bytes]],
    schemas: Path,
    *,
    kubernetes: str | None = None,
    projects: Mapping[str, str] | None = None,
    allow_unknown: Iterable[str] = (),
    before: Iterable[tuple[str, bytes]] | None = None,
    rulebook: Rulebook | None = None,
    apply: Apply = "server",
    gates: Gates = Gates(),  # noqa: B008  # frozen and empty
    policies: Sequence[Policy] = (),
    where: Callable[[str], Location] = option,
    whole: bool = False,
) -> Result:
    """Judge somebody else's files against a Kubernetes release and the releases installed on it.

    Without `projects`, the newest known release of each project counts, and the result says so. CRDs among the
    inputs define their kinds. `before` are the files as they were: with them the rules of updates count, and the
    result says what becomes of each object. The policies in Python among `policies` are asked as far as the files go:
    what is not among them may be on the cluster, unless the files are the `whole` of it. `apply` is how objects come
    to the server, `gates` are those whose state somebody said. `where` says where a release was chosen. Much is judged
    with a process for each core.
    """
    judge, findings, assumed = judge_of(
        schemas,
        kubernetes,
        projects,
        allow_unknown=allow_unknown,
        rulebook=rulebook,
        apply=apply,
        gates=gates,
        where=where,
    )
    result = Result(findings=findings)
    with memory.without_collecting():
        files, olds = list(inputs), None if before is None else decode_all(before, Result())
        several = parallel.pays(files)
        apart = several and olds is None and not policies  # which look at all objects
        found = parallel.judge_inputs(files, judge, part) if apart else None
        result.extend(found or alone(files, judge, olds=olds, policies=policies, several=several, whole=whole))
    result.add(twice.check(result.objects))
    result.hide()
    result.notes.append(assumed)
    return result


def judge_of(
    schemas: Path,
    kubernetes: str | None,
    projects: Mapping[str, str] | None,
    *,
    allow_unknown: Iterable[str],
    rulebook: Rulebook | None,
    apply: Apply,
    gates: Gates,
    where: Callable[[str], Location] = option,
) -> tuple[Judge, list[Finding], str]:
    """Return a judge that knows some releases, the findings on those, and a note on what was assumed."""
    known, findings = catalog.load(schemas, kubernetes=kubernetes, projects=projects, where=where)
    judge = Judge(known, allow_unknown=Allowed(tuple(allow_unknown)), rulebook=rulebook or Rulebook(), apply=apply)
    judge = replace(judge, around=replace(judge.around, gates=gates), decrypts=True)
    assumed = assumed_releases(known, kubernetes=kubernetes, projects=projects)
    return judge, list(findings), assumed


def part(piece: parallel.Piece, judge: Judge) -> tuple[Result, int]:
    """Judge a file, or a piece of one, by itself; return how many documents it has, too."""
    result = Result()
    found = sorting.decode(*piece)
    result.add(found.findings)
    result.passed += found.passed
    result.others += found.other_files(piece.name)
    collect(result, map(judge.judge, found.manifests), Outcome())
    judge.rulebook.keep()
    return result, found.documents


def alone(
    files: Sequence[tuple[str, bytes]],
    judge: Judge,
    *,
    olds: Iterable[Manifest] | None = None,
    policies: Sequence[Policy] = (),
    several: bool = False,
    whole: bool = False,
) -> Result:
    """Judge files that are decoded in this process: CRDs among them define kinds, policies and what is looked up count.

    What an object became is forgotten with its verdict, unless there are policies, which look at all objects. With
    `several`, processes that share what was decoded judge the objects.
    """
    result = Result()
    manifests, settings = sort_all(files, result)
    values = [manifest.value for manifest in manifests]
    judge = aware(judge, values)
    updates = None if olds is None else Updates(judge, olds, manifests)
    say = judge.judge if updates is None else updates.judge
    if any(manifest.kind == POLICY for manifest in manifests):
        kept = list(judgements_of(manifests, say))
        collect(result, kept, run_admission(kept, judge.catalog), updates)
    elif several:
        share(result, manifests, say, updates)
    else:
        collect(result, judgements_of(manifests, say), Outcome(), updates)
    if updates is not None:
        result.changes = [*(result.changes or ()), *updates.removed()]
        exposed = (found for old in updates.before.values() for found in exposed_credentials(old))
        result.values |= {value for _, values in exposed for value in values}
    if policies:
        ask(policies, [*manifests, *settings], result, whole=whole)
    judge.rulebook.keep()
    if said := neighbours.note(values):
        result.notes.append(said)
    return result


def ask(policies: Sequence[Policy], manifests: Sequence[Manifest], result: Result, *, whole: bool) -> None:
    """Add to the result what policies in Python find in objects; unless they are the `whole`, there may be more."""
    from trainyard.judge.policies.run import check
    from trainyard.judge.policies.world import World

    findings, skipped = check(World(tuple(manifests), complete=whole), policies)
    result.add(findings)
    result.skipped += skipped


def share(
    result: Result,
    manifests: Sequence[Manifest],
    say: Callable[[Manifest], Judgement],
    updates: Updates | None,
) -> None:
    """Add to the result what several processes say of objects, some at a time."""

    def judged(some: Sequence[Manifest]) -> Result:
        found = Result()
        collect(found, map(say, some), Outcome(), updates)
        return found

    parts = [manifests[start : start + SHARE] for start in range(0, len(manifests), SHARE)]
    for number, found in enumerate(parallel.each(parts, judged), 1):
        result.extend(found)
        progress.tell("judging", min(number * SHARE, len(manifests)), len(manifests), "objects")


def judgements_of(manifests: Sequence[Manifest], say: Callable[[Manifest], Judgement]) -> Iterator[Judgement]:
    """Yield the judgement on each object."""
    return map(say, progress.each(manifests, "judging", "objects"))


def decode_all(inputs: Iterable[tuple[str, bytes]], result: Result) -> list[Manifest]:
    """Decode every file, and note in the result what could not be decoded."""
    manifests: list[Manifest] = []
    for name, data in inputs:
        decoded, findings = decode(name, data)
        manifests += decoded
        result.add(findings)
    return manifests


def sort_all(inputs: Iterable[tuple[str, bytes]], result: Result) -> tuple[list[Manifest], list[Manifest]]:
    """Decode every file of a stranger's into objects and Kueue's settings; note in the result what is neither."""
    manifests: list[Manifest] = []
    settings: list[Manifest] = []
    for name, data in inputs:
        found = sorting.decode(name, data)
        manifests += found.manifests
        settings += found.settings
        result.add(found.findings)
        result.passed += found.passed
        result.others += found.other_files(name)
    return manifests, settings


def run_admission(judgements: Sequence[Judgement], known: Catalog) -> Outcome:
    """Run the admission policies among the inputs, which takes CEL."""
    from trainyard.judge.checks import cel_policies

    return cel_policies.check_judged(judgements, known, (), complete=False)


def collect(result: Result, judgements: Iterable[Judgement], outcome: Outcome, updates: Updates | None = None) -> None:
    """Add judgements to the result, with what admission policies make of them, and what becomes of each object."""
    changes: list[Change] = []
    for judgement in judgements:
        manifest = judgement.manifest
        document = manifest.document
        verdict = "invalid" if document.refused else judgement.verdict
        if verdict == "valid":
            verdict = outcome.verdicts.get(id(manifest), verdict)
        change = None if updates is None else updates.change(judgement, verdict)
        if change is not None:
            changes.append(change)
        result.objects.append(
            Judged(
                manifest.file,
                document.index,
                manifest.ref,
                verdict,
                None if change is None else change.update,
                document.location().line,
            )
        )
        result.add(judgement.findings)
        for finding, values in exposed_credentials(manifest):
            result.findings.append(finding)
            result.values.update(values)
    if updates is not None:
        result.changes = [*(result.changes or ()), *changes]
    result.add(outcome.findings)


def assumed_releases(known: Catalog, *, kubernetes: str | None, projects: Mapping[str, str] | None) -> str:
    """Say which releases the verdict holds for."""
    how = "" if kubernetes else ", the newest known"
    text = f"checked for Kubernetes {known.kubernetes}{how}"
    if projects is None:
        newest = f"with the newest known release of {len(known.projects)} projects"
        return f"{text}, {newest}; choose others with `trainyard validate --with`"
    from trainyard.specs.releases import foreign_hooks  # which takes longer to import than an object to judge

    named = ", ".join(f"{name} {release}" for name, release in sorted(known.projects.items()))
    foreign = "".join(f"; {said}" for said in foreign_hooks(known.releases))
    return f"{text}, with {named or 'no operators'}{foreign}"
