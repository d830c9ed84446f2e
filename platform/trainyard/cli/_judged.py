"""What a repository would be told with a file that is not written yet, and the end where that is refused."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from trainyard.cli._out import say

if TYPE_CHECKING:
    from trainyard.findings import Finding
    from trainyard.specs.load import Loaded
    from trainyard.specs.sources import Specs


def weigh(root: Path, loaded: Loaded) -> list[Finding]:
    """Return what is wrong with specs that were read, as it weighs in this change."""
    from trainyard import preflight
    from trainyard.tree.frozen import in_specs, weighed

    found = preflight.check(loaded, root).findings
    return weighed(root, found, loaded.specs.repository, in_specs(root))


def with_changes(root: Path, changes: Mapping[str, str | None]) -> list[Finding]:
    """Return what would be wrong with the specs if files were as these texts; None takes a file away."""
    from trainyard.drafts.overlay import overlaid
    from trainyard.specs.load import read_repository

    with overlaid(root, changes) as folder:
        return weigh(root, read_repository(folder))


def with_job(root: Path, loaded: Loaded, team: str, name: str, text: str) -> list[Finding]:
    """Return what would be wrong with the specs once a job's file is written, without reading the others again."""
    from dataclasses import replace

    from trainyard.drafts.job import read

    file, findings = read(team=team, name=name, text=text)
    jobs = (*loaded.specs.jobs, *([file] if file else ()))
    return weigh(root, replace(loaded, specs=replace(loaded.specs, jobs=jobs), findings=[*loaded.findings, *findings]))


def refused(findings: Iterable[Finding], standing: Iterable[Finding] = ()) -> bool:
    """Show what was not found before, and say whether an error is among it."""
    from trainyard.cli._findings import show

    known = {(each.rule, each.location, each.message) for each in standing}
    new = [each for each in findings if (each.rule, each.location, each.message) not in known]
    show(new)
    return any(each.is_error for each in new)


def nothing() -> int:
    """Say that no file was written."""
    say("nothing was written", error=True)
    return 1


def specs(root: Path) -> Specs:
    """Return the specs of a repository; raises SpecError where the platform's cannot be read."""
    from trainyard.errors import SpecError
    from trainyard.specs.load import read_repository
    from trainyard.system.repository import JOBS

    loaded = read_repository(root)
    wrong = [each for each in loaded.findings if each.is_error and not each.location.file.startswith(f"{JOBS}/")]
    if wrong:
        raise SpecError(f"{wrong[0].location}: {wrong[0].message}; mend that first")
    return loaded.specs


def written(root: Path, changes: Mapping[str, str], *, new: str) -> bool:
    """Write files where no error follows that was not there before, and say whether; `new` is one that is not there."""
    from trainyard.specs.load import read_repository
    from trainyard.system import files

    if refused(with_changes(root, changes), weigh(root, read_repository(root))):
        nothing()
        return False
    files.create(root / new, changes[new])
    for path, text in changes.items():
        if path != new:
            files.write(root / path, text, like=root / path)
    return True
