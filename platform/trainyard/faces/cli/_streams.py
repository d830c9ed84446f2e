"""Judges what is named as a stream: findings are printed as they come, and nothing else is held."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from trainyard.faces.cli._out import ready

if TYPE_CHECKING:
    from trainyard.base.findings import ObjectRef
    from trainyard.base.manifests import Manifest
    from trainyard.judge.checks.result import Result
    from trainyard.judge.policies.policy import Policy
    from trainyard.upstream.apiserver import Rulebook
    from trainyard.upstream.apiserver.allowed import Allowed
    from trainyard.upstream.apiserver.gates import Gates
    from trainyard.upstream.apiserver.judge import Apply

FORMAT = "jsonl"
"""The format whose input is a stream, too."""


def judged(
    streams: Sequence[str],
    others: Sequence[str],
    result: Result,
    schemas: Path,
    *,
    kubernetes: str | None,
    projects: Mapping[str, str] | None,
    allowed: Allowed,
    exclude: Sequence[str],
    apply: Apply,
    gates: Gates,
    rulebook: Rulebook,
    policies: Sequence[Policy],
    strict: bool,
    weigh: Callable[[Result], None],
) -> int:
    """Print what is found in other files, and then in streams as it comes; returns the exit code.

    `weigh` makes findings advice, or takes them out of a part of a stream.
    """
    from trainyard.base.system.files import called, opened
    from trainyard.judge.checks import validate
    from trainyard.judge.checks.result import Result
    from trainyard.judge.checks.streams import Stream

    judge, findings, assumed = validate.judge_of(
        schemas,
        kubernetes,
        projects,
        allow_unknown=allowed.patterns,
        rulebook=rulebook,
        apply=apply,
        gates=gates,
    )
    printed = Printed()
    printed.add(result if others else Result(findings=findings, notes=[assumed]))
    before = list(shaping(others, exclude)) if others else []
    for name in streams:
        with opened(name) as stream:
            read = getattr(stream, "read1", stream.read)  # what is there, however little
            for part in Stream(called(name), read, judge, policies, before).results():
                weigh(part)
                printed.add(part)
    printed.end()
    allowed.require_used(printed.unknown.values())
    return printed.exit_code(strict=strict)


def shaping(files: Sequence[str], exclude: Sequence[str]) -> Iterator[Manifest]:
    """Yield the objects of files that mean something for those of a stream."""
    from trainyard.base.system.ignored import Excluded
    from trainyard.judge.checks import inputs, sorting
    from trainyard.judge.checks.foreign import sift
    from trainyard.upstream.apiserver.neighbours import SHAPING

    for name, data in sift(inputs.collect(files, excluded=Excluded(exclude)), named=files).files:
        yield from (manifest for manifest in sorting.decode(name, data).manifests if manifest.kind in SHAPING)


@dataclass
class Printed:
    """What was printed of a stream, as counts, and what is said at its end."""

    counts: Counter[str] = field(default_factory=Counter)
    last: Result | None = None
    unknown: dict[tuple[str, str], ObjectRef] = field(default_factory=dict)
    """One object of each kind that nothing serves."""

    def add(self, result: Result) -> None:
        """Print the findings of a part, and keep its counts and what is said once."""
        from trainyard.faces.report import jsonl

        ready(jsonl.lines(result.findings))
        self.counts += Counter(result.summary())
        for item in result.objects:
            if item.verdict == "unknown":
                self.unknown.setdefault((item.object.api_version, item.object.kind), item.object)
        rest = replace(result, objects=[], findings=[], values=set(), others=[])
        if self.last is None:
            self.last = rest
        else:
            self.last.extend(rest)

    def end(self) -> None:
        """Print the last line."""
        from trainyard.faces.report import json_, jsonl
        from trainyard.judge.checks.result import Result

        document = json_.as_dict(self.last or Result())
        document["summary"] = {name: self.counts[name] for name in document["summary"]}
        del document["findings"], document["objects"]
        ready(jsonl.line(document))

    def exit_code(self, *, strict: bool) -> int:
        """Return 1 where something has to be corrected, else 0."""
        return int(self.counts["errors"] > 0 or (strict and self.counts["warnings"] > 0))


def split_off(paths: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the paths that are streams, standard input and files that are too large for another format, and others."""
    from trainyard.base.limits import FILE_BYTES
    from trainyard.base.system.files import STDIN

    streams = [
        name for name in paths if name == STDIN or (Path(name).is_file() and Path(name).stat().st_size > FILE_BYTES)
    ]
    return streams, [name for name in paths if name not in streams]
