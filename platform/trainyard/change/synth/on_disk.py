"""Judges the tree on disk, of whose specs only those are read that changed."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from pathlib import Path

from trainyard.change.synth.facts import Facts
from trainyard.change.synth.reading import read
from trainyard.change.synth.start import begin
from trainyard.change.synth.weigh import without_errors
from trainyard.judge import causes, frozen
from trainyard.judge.checks.left_out import JudgedSpecs
from trainyard.judge.checks.repository import judge_repository
from trainyard.judge.checks.result import Result


def judge_tree(
    root: Path,
    *,
    clusters: Collection[str] | None = None,
    allow_unknown: Iterable[str] = (),
    base: str | None = None,
    against: str | None = None,
) -> Result:
    """Return the result of `validate_repository`, of whose specs only those are read that changed.

    Raises SpecError for a cluster that does not exist, and ToolError for a commit that does not.
    """
    specs = judge_specs(root, ref=base)
    return judge_repository(root, specs, clusters=clusters, allow_unknown=allow_unknown, base=base, against=against)


def judge_specs(root: Path, *, ref: str | None = None) -> JudgedSpecs:
    """Return the specs of a repository with all findings on them, as they weigh in this change.

    Raises SpecError where the folder is no repository, and ToolError where `ref` is no commit.
    """
    start = begin(root)
    reading = read(start)
    start.facts.save(Facts(reading.facts(), start.facts.facts.clusters))
    settings, find = reading.specs.repository, frozen.in_specs(root)
    explained = causes.explain(reading.checked, root, ref=ref, unopened=reading.unopened())
    findings = frozen.weigh_findings(root, explained, settings, find, ref=ref)
    checked = replace(reading.checked, findings=findings, waivers=reading.waivers())
    without, disk = without_errors(reading, findings), start.disk if start.git else None
    return JudgedSpecs(checked, reading.named_jobs(), without, disk=disk, memory=start.memory)
