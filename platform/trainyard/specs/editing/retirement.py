"""Stop a job by its file, which stays."""

from __future__ import annotations

from pathlib import Path

from trainyard.base.system import files
from trainyard.base.system.repository import job_file
from trainyard.specs.editing.fields import set_fields


def retire(root: Path, team: str, name: str) -> bool:
    """Set `retired: true` in a job's file, and say whether that changed it.

    Raises SpecError where the file is written in a way that only a person can edit.
    """
    file = job_file(team, name)
    text = (files.read(root / file) or b"").decode("utf-8", "surrogateescape")
    changed = set_fields(text, file, {"retired": True})
    if changed == text:
        return False
    files.write(root / file, changed, like=root / file)
    return True
