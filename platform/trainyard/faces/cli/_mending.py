"""Fixes of `check --fix`, and their diff for `check --diff`."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trainyard.base.findings import Finding

LINES = "\t\r\n"
"""What stays in the lines of a file as it is."""


def mend(root: Path, findings: Iterable[Finding], *, write: bool) -> list[str]:
    """Mend files below a folder, and return the lines of a diff; with `write=False` the files stay as they are."""
    from trainyard.base.documents.positions import BOM
    from trainyard.base.system import files
    from trainyard.base.system.repository import GENERATED
    from trainyard.faces.report.legible import escaped
    from trainyard.specs.editing.mend import mend_text, renamed_files

    found = [finding for finding in findings if GENERATED not in finding.location.file.split("/")]
    names, diff = renamed_files(found), list[str]()
    for file in sorted({finding.location.file for finding in found}):
        path = root / file
        data = files.read(path) if path.is_file() and not path.is_symlink() else None
        if data is None:
            continue
        mark = BOM if data.startswith(BOM) else b""
        before = data.removeprefix(mark).decode("utf-8", "surrogateescape")
        after = mend_text(before, file, found)
        target = names.get(file, file)
        if target != file and (root / target).exists():
            target = file
        if (after, target) == (before, file):
            continue
        old, new = escaped(file), escaped(target)
        diff += [f"rename from {old}\n", f"rename to {new}\n"] if target != file else []
        lines = unified_diff(before.splitlines(keepends=True), after.splitlines(keepends=True), old, new)
        diff += (escaped(line, keep=LINES) for line in lines)
        if write:
            files.write(root / target, mark + after.encode("utf-8", "surrogateescape"), like=path)
            if target != file:
                path.unlink()
    return diff
