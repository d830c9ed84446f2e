"""Names that findings propose: never one at which an error stands itself."""

from __future__ import annotations

from dataclasses import replace

from trainyard.base.findings import Finding
from trainyard.judge.causes import edits
from trainyard.judge.causes.repairs import NEAR, key_of, name_at, value_of
from trainyard.judge.causes.trial import is_of_platform
from trainyard.specs.load import Loaded


def without_broken(loaded: Loaded, findings: list[Finding]) -> list[Finding]:
    """Return findings that propose no name which is itself misspelt."""
    broken = {word for finding in findings if (word := misspelt(loaded, finding))}
    return [drop_proposal(finding, broken) for finding in findings]


def misspelt(loaded: Loaded, finding: Finding) -> str | None:
    """Return the name at which an error of the platform stands that proposes another one."""
    if not (finding.is_error and finding.cause is None and finding.path and is_of_platform(finding)):
        return None
    value = value_of(loaded, key_of(finding.location.file))
    word = name_at(value, edits.path_of(value, finding.path))
    return word if word is not None and NEAR.search(finding.message) and repr(word) in finding.message else None


def drop_proposal(finding: Finding, broken: set[str]) -> Finding:
    """Return a finding without its proposal, where that is one of these names."""
    found = NEAR.search(finding.message)
    if found is None or found[1] not in broken:
        return finding
    return replace(finding, message=finding.message[: found.start()].rstrip("; "))
