"""Judges files that somebody names by the schemas and policies of a repository; what judges is imported only then."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from trainyard.base.system import files, reads
from trainyard.base.system.git import blob_id

if TYPE_CHECKING:
    from trainyard.base.findings import Finding
    from trainyard.judge.checks.ignores.parts import Part
    from trainyard.judge.checks.result import Result
    from trainyard.judge.policies.policy import Policy
    from trainyard.upstream.apiserver.gates import Gates
    from trainyard.upstream.apiserver.judge import Apply


@dataclass(frozen=True, slots=True)
class Judging:
    """What files are judged against: releases, the schemas and policies of a repository, the files before."""

    root: Path
    part: Part
    allow_unknown: Sequence[str]
    apply: Apply | None
    gates: Gates | None
    before: Sequence[tuple[str, bytes]] | None

    def inputs(self) -> Iterator[str]:
        """Yield texts that differ wherever files would be judged in another way."""
        part, place = self.part, self.part.place
        states = sorted(self.gates.states.items()) if self.gates else ()
        yield from (reads.absolute(self.root), str(part.kubernetes), str(self.apply))
        yield from (*(f"{name}={state}" for name, state in states), "")
        yield from (str(part.projects is None), *map(str, sorted((part.projects or {}).items())), "")
        yield from (*self.allow_unknown, "", str(part.whole), str(self.before is None))
        for name, data in self.before or ():
            yield from (name, blob_id(data))
        yield from ("", str(place and place.file))
        if place is not None:
            yield blob_id(files.read(place.file) or b"")
        else:
            yield from (str(part.where(project)) for project in ("kubernetes", *sorted(part.projects or ())))

    def judge(self, inputs: Sequence[tuple[str, bytes]]) -> Result:
        """Judge files."""
        from trainyard.base.system.data import schemas_dir
        from trainyard.judge.checks import validate
        from trainyard.judge.policies.kept_rules import open_for
        from trainyard.upstream.apiserver.catalog.releases import Shelf
        from trainyard.upstream.apiserver.gates import Gates

        schemas, part, place = schemas_dir(self.root), self.part, self.part.place
        release, installed = place.releases(Shelf(schemas).projects()) if place else (part.kubernetes, part.projects)
        return validate.strangers(
            inputs,
            schemas,
            kubernetes=release,
            projects=installed,
            allow_unknown=self.allow_unknown,
            before=self.before,
            rulebook=open_for(self.root),
            apply=self.apply or ("server" if place else "client"),
            gates=(self.gates or Gates()).over(place.gates() if place else Gates()),
            policies=python_policies(self.root),
            where=part.where,
            whole=part.whole,
        )


def advice(root: Path) -> set[str]:
    """Return the ids of rules that advise outside a repository: those of policies in Python, and on credentials."""
    from trainyard.base import credentials

    return {*(policy.id for policy in python_policies(root)), credentials.PLAIN.id, credentials.IN_SECRET.id}


def python_policies(root: Path) -> list[Policy]:
    """Return the policies in Python, our own and the repository's; those in CEL count where they are installed."""
    from trainyard.judge.policies.policy import usable

    return usable(modules(root))


def broken_policies(root: Path) -> list[Finding]:
    """Return the findings on broken policies in Python."""
    from trainyard.judge.policies.policy import unusable

    return list(unusable(modules(root)))


def modules(root: Path) -> list[Path]:
    """Return the files of policies in Python."""
    from trainyard.base.system.data import policy_files

    return [path for path in policy_files(root) if path.suffix == ".py"]
