"""What a repository would be told with a file that is not written yet, and the end where that is refused."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from trainyard.faces.cli._out import say

if TYPE_CHECKING:
    from trainyard.base.findings import Finding
    from trainyard.specs.load import Loaded
    from trainyard.specs.sources import Specs


def weigh(root: Path, loaded: Loaded) -> list[Finding]:
    """Return the findings on specs that were read, weighed for this change."""
    from trainyard.judge import causes, preflight
    from trainyard.judge.frozen import in_specs, weigh_findings

    found = causes.explain(preflight.check(loaded, root), root)
    return weigh_findings(root, found, loaded.specs.repository, in_specs(root))


def with_changes(root: Path, changes: Mapping[str, str | None]) -> list[Finding]:
    """Return the findings on the specs if files had these texts; None removes a file."""
    from trainyard.faces.drafts.overlay import overlaid
    from trainyard.specs.load import read_repository

    with overlaid(root, changes) as folder:
        return weigh(root, read_repository(folder))


def with_job(root: Path, loaded: Loaded, team: str, name: str, text: str) -> list[Finding]:
    """Return the findings on the specs with a new job file, without reading the other files again."""
    from dataclasses import replace

    from trainyard.faces.drafts.job import read_draft

    file, findings = read_draft(team=team, name=name, text=text)
    jobs = (*loaded.specs.jobs, *([file] if file else ()))
    return weigh(root, replace(loaded, specs=replace(loaded.specs, jobs=jobs), findings=[*loaded.findings, *findings]))


def show_new(findings: Iterable[Finding], standing: Iterable[Finding] = ()) -> bool:
    """Show what was not found before, and say whether an error is among it."""
    from trainyard.faces.cli._findings import show

    new = new_ones(findings, standing)
    show(new)
    return any(finding.is_error for finding in new)


def new_ones(findings: Iterable[Finding], standing: Iterable[Finding]) -> list[Finding]:
    """Return the findings that were not found before."""
    known = {(finding.rule, finding.location, finding.message) for finding in standing}
    return [finding for finding in findings if (finding.rule, finding.location, finding.message) not in known]


def nothing() -> int:
    """Say that no file was written."""
    say("nothing was written", error=True)
    return 1


def specs(root: Path) -> Specs:
    """Return the specs of a repository; raises SpecError where the platform's cannot be read."""
    from trainyard.base.errors import SpecError
    from trainyard.base.system.repository import JOBS
    from trainyard.specs.load import read_repository

    loaded = read_repository(root)
    wrong = [
        finding for finding in loaded.findings if finding.is_error and not finding.location.file.startswith(f"{JOBS}/")
    ]
    if wrong:
        raise SpecError(f"{wrong[0].location}: {wrong[0].message}; fix that first")
    return loaded.specs


def write_if_clean(root: Path, changes: Mapping[str, str], *, new: str) -> bool:
    """Write files where no error follows that was not there before, and say whether; `new` is one that is not there."""
    from trainyard.base.system import files
    from trainyard.specs.load import read_repository

    if show_new(with_changes(root, changes), weigh(root, read_repository(root))):
        nothing()
        return False
    files.create(root / new, changes[new])
    for path, text in changes.items():
        if path != new:
            files.write(root / path, text, like=root / path)
    return True
