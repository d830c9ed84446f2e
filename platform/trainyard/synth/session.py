"""What the command `synth` does, up to the point of writing: load, check, render, compare with the base."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from trainyard.errors import ToolError
from trainyard.findings import Finding
from trainyard.specs.load import load_repository
from trainyard.synth import repository
from trainyard.synth.work import Work, prepare


@dataclass(frozen=True, slots=True)
class Outcome:
    """Everything there is to say, and the work where it can be done."""

    findings: tuple[Finding, ...]
    work: Work | None = None

    @property
    def refused(self) -> bool:
        """Whether an error stands, so that nothing may be written."""
        return any(finding.is_error for finding in self.findings)


def run(
    root: Path, version: str, *, ref: str | None = None, checking: bool = False, automated: bool = False
) -> Outcome:
    """Work out what to write below `root`.

    `automated` says that nobody watches, as in continuous integration, where a checkout may lack the branches that
    tell the base: then a live repository has to be given one. Raises ToolError where the base cannot be told.
    """
    specs, findings = load_repository(root)
    if specs is None:
        return Outcome(tuple(findings))
    if automated and specs.repository.live and ref is None:
        raise ToolError("in CI, say what to compare with: --base REF, or TRAINYARD_BASE")
    runs, problems = repository.check(specs, root)
    findings += problems
    if any(finding.is_error for finding in findings):
        return Outcome(tuple(findings))
    asked = repository.inputs(specs, repository.platform_folders(specs, root), version)
    work = prepare(
        root, asked, repository.Renderer(runs), ref=ref, revision=specs.repository.revision, checking=checking
    )
    return Outcome((*findings, *work.findings), work)
