"""Remembers what is said of files that somebody names, by their contents and all that was read to judge them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainyard.base.findings import Finding, Skipped
from trainyard.base.memory import CODE, Memory, World
from trainyard.base.system import cache, reads
from trainyard.base.system.git import blob_id
from trainyard.base.system.repository import is_repository
from trainyard.judge.checks.result import Other, Result
from trainyard.judge.checks.rows import Rows, is_public, row_values, rows_from

Input = tuple[str, bytes]
"""Name and content of a file."""

KEPT = "files"
"""Sort of the entries that hold verdicts on files."""

LIMIT_BYTES = 32 * 2**20
"""What all entries may take; an object has some two hundred bytes."""


@dataclass(frozen=True, slots=True)
class KeptFiles:
    """Results of judging files, by their names and contents."""

    memory: Memory

    def judge(self, work: Callable[[Sequence[Input]], Result], files: Sequence[Input], *how: str) -> Result:
        """Return the result of judging files, the kept one where it holds; `how` names all else that work is given."""
        inputs = (*how, *(part for name, data in files for part in (name, str(Path(name).resolve()), blob_id(data))))
        found = self.memory.get(*inputs)
        if found is not None:
            return result_from(found)
        if self.memory.world is None:
            return work(files)
        with reads.recording(self.memory.world) as record:
            reads.ask(CODE, "")
            result = work(files)
        if not result.values and result.changes is None and is_public(Rows(result.objects, result.findings)):
            self.memory.put(values_of(result), record.everything, *inputs)
        return result

    def findings(self, work: Callable[[], list[Finding]], *how: str) -> list[Finding]:
        """Return findings on what is no object, the kept ones where they hold."""
        return self.judge(lambda _: Result(findings=work()), (), *how).findings


def open_for(root: Path) -> KeptFiles:
    """Return the results that the user's cache keeps, outside the repository at `root` if there is one."""
    repository = root if is_repository(root) else None
    return KeptFiles(Memory(cache.private(KEPT, outside=repository, limit_bytes=LIMIT_BYTES), World()))


def values_of(result: Result) -> dict[str, Any]:
    """Return a result without credentials and changes as JSON has it."""
    return {
        "rows": row_values(Rows(result.objects, result.findings)),
        "skipped": [(skipped.rule, skipped.why, skipped.partial) for skipped in result.skipped],
        "notes": result.notes,
        "passed": dict(result.passed),
        "others": [(other.file, other.what) for other in result.others],
    }


def result_from(value: dict[str, Any]) -> Result:
    """Return a result that was kept."""
    rows = rows_from(value["rows"])
    skipped = [Skipped(*row) for row in value["skipped"]]
    others = [Other(*row) for row in value["others"]]
    return Result(rows.objects, rows.findings, skipped, value["notes"], passed=Counter(value["passed"]), others=others)
