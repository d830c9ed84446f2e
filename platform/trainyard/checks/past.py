"""What a commit holds: the objects before a change, and whether a finding on a frozen run is this change's doing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from trainyard.checks import inputs
from trainyard.checks.result import Result
from trainyard.documents import load
from trainyard.errors import ToolError, TrainyardError
from trainyard.findings import Finding, Severity
from trainyard.system import files
from trainyard.system.git import Git, blob_id, find

SPECS = ("jobs", "platform/clusters", "platform/teams", "platform/extra")
REPOSITORY = "platform/repository.yaml"
RUN_FILE = re.compile(r"generated/([^/]+)/runs/[^/]+/[^/]+/[^/]+\.yaml")

Judge = Callable[[Path, Sequence[str]], Result]
"""Judges clusters of the repository in a folder, by the rules at hand."""


def objects_at(git: Git, commit: str, clusters: Iterable[str]) -> Mapping[str, Sequence[tuple[str, bytes]]]:
    """Return the generated files of each cluster as a commit has them."""
    return {cluster: list(contents(git, commit, f"generated/{cluster}", (".yaml",))) for cluster in clusters}


def contents(git: Git, commit: str, folder: str, suffixes: tuple[str, ...] = ("",)) -> Iterator[tuple[str, bytes]]:
    """Yield path and bytes of every file of a folder in a commit."""
    tree = git.object_id(commit, folder)
    listed = git.listing(tree) if tree else {}
    wanted = {path: oid for path, oid in sorted(listed.items()) if path.endswith(suffixes)}
    for path, data in zip(wanted, git.read(wanted.values()), strict=True):
        yield f"{folder}/{path}" if folder else path, data


def files_at(ref: str, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """Yield name and bytes of every manifest file below paths as a commit has them; what it does not have is new.

    Raises TrainyardError where a path is in no repository, or the repository has no such commit.
    """
    for name in paths:
        path = Path(name)
        folder = path if path.is_dir() else path.parent
        git = None if name == inputs.STDIN else find(folder)
        if git is None:
            raise TrainyardError(f"--against compares with a commit, but {name} is in no Git repository; give --old")
        commit = git.commit(ref)
        if commit is None:
            raise ToolError(f"--against {ref!r} is no commit of the repository that holds {name}")
        if path.is_dir():
            found = contents(git, commit, "", inputs.SUFFIXES)
            yield from ((f"{name.rstrip('/')}/{file}", data) for file, data in found if inputs.is_manifest(path / file))
        elif (oid := git.object_id(commit, path.name)) is not None:
            yield name, next(git.read([oid]))


def forgive(result: Result, root: Path, git: Git, commit: str, judge: Judge) -> None:
    """Turn errors on frozen runs into warnings where the rules at hand find the same at the base.

    Otherwise a rule that grew stricter would keep the main branch red for ever. An error that the base does not have
    is the change's doing, and stays one.
    """
    suspects = {finding.location.file for finding in result.findings if finding.is_error}
    clusters: dict[str, None] = {}
    frozen: set[str] = set()
    algorithm = "sha256" if len(commit) == 64 else "sha1"
    for file in sorted(suspects):
        match = RUN_FILE.fullmatch(file)
        data = files.read(root / file) if match else None
        if match and data is not None and git.object_id(commit, file) == blob_id(data, algorithm):
            frozen.add(file)
            clusters[match[1]] = None
    if not frozen:
        return
    with TemporaryDirectory(prefix="trainyard-base-") as folder:
        export(git, commit, Path(folder), clusters)
        before = {key(each) for each in judge(Path(folder), list(clusters)).findings}
    for position, finding in enumerate(result.findings):
        if finding.location.file in frozen and finding.is_error and key(finding) in before:
            result.findings[position] = replace(finding, severity=Severity.WARNING, frozen=True)


def export(git: Git, commit: str, folder: Path, clusters: Iterable[str]) -> None:
    """Write the specs and the trees of some clusters, as a commit has them, into a folder."""
    for part in (*SPECS, *(f"generated/{cluster}" for cluster in clusters)):
        for path, data in contents(git, commit, part):
            files.write(folder / path, data)
    oid = git.object_id(commit, REPOSITORY)
    if oid:
        files.write(folder / REPOSITORY, next(git.read([oid])))


def is_live(root: Path) -> bool:
    """Say whether clusters sync the repository, so that a run that exists at the base is frozen."""
    documents, _ = load(files.read(root / REPOSITORY) or b"", file=REPOSITORY)
    value = documents[0].value if documents else None
    return isinstance(value, dict) and value.get("live") is True


def key(finding: Finding) -> tuple[str, str, str | None, str]:
    """Return what makes two findings the same one."""
    return finding.rule, finding.location.file, finding.path, finding.message
