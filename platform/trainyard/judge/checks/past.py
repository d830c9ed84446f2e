"""What a commit holds: the objects before a change, and what the change makes of volumes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from trainyard.base.errors import ToolError, TrainyardError
from trainyard.base.findings import Finding, Skipped
from trainyard.base.system import cache
from trainyard.base.system.files import STDIN
from trainyard.base.system.git import Git, absent, find
from trainyard.base.system.ignored import Excluded
from trainyard.base.system.repository import GENERATED
from trainyard.base.system.revisions import resolve
from trainyard.judge.checks import inputs
from trainyard.render.tree import claims, layout
from trainyard.render.tree.commit import base_of, contents
from trainyard.render.tree.disk import CACHE, Disk
from trainyard.render.tree.origins import locator
from trainyard.render.tree.snapshot import Snapshot, from_disk, from_git
from trainyard.specs.sources import Specs


def objects_at(root: Path, ref: str, clusters: Iterable[str]) -> Mapping[str, Sequence[tuple[str, bytes]]]:
    """Return the generated files of each cluster of a repository as a commit has them.

    Raises ToolError where there is no such commit.
    """
    git = find(root)
    found = resolve(git, ref, option="--against") if git else None
    if git is None or found is None:
        raise ToolError(f"--against {ref!r} is not a commit of this repository")
    return {cluster: list(contents(git, found.commit, f"{GENERATED}/{cluster}", (".yaml",))) for cluster in clusters}


@dataclass(frozen=True, slots=True)
class Before:
    """What a change meets on clusters: the objects that it changes or takes away, and what it may not make of them."""

    objects: Mapping[str, Sequence[tuple[str, bytes]]] | None = None
    """By cluster, name and bytes of each; None where nobody syncs them, or nothing tells them."""
    findings: tuple[Finding, ...] = ()
    skipped: tuple[Skipped, ...] = ()


def before(
    root: Path, specs: Specs, clusters: Iterable[str], *, tree: Snapshot | None = None, ref: str | None = None
) -> Before:
    """Return the objects at the base of a change, to which `ref` leads; `tree` is the tree that is not on disk.

    Raises ToolError where `ref` is no commit.
    """
    git = find(root)
    if git is None or not specs.repository.live:
        return Before()
    try:
        base = from_git(git, base_of(git, ref, revision=specs.repository.revision))
    except ToolError as error:
        if ref is not None:
            raise
        return Before(skipped=(Skipped("update", f"the base of this change is unknown: {error}"),))
    if not base.live:
        return Before()
    now = tree or on_disk(root, git)
    found = claims.check(base, now.files, now.contents, specs.clusters, locator(specs))
    return Before(replaced_objects(base, now, clusters), tuple(found))


def on_disk(root: Path, git: Git) -> Snapshot:
    """Return the tree at hand."""
    disk = Disk(root, cache.private(CACHE, outside=root), git.algorithm)
    now = from_disk(root / GENERATED, disk.scan(GENERATED))
    disk.save()
    return now


def replaced_objects(
    base: Snapshot, now: Snapshot, clusters: Iterable[str]
) -> Mapping[str, Sequence[tuple[str, bytes]]]:
    """Return the objects at the base that are other than now, or gone, by cluster."""
    found: dict[str, Sequence[tuple[str, bytes]]] = {}
    for cluster in clusters:
        paths = [path for path, oid in sorted(base.of_cluster(cluster).items()) if now.files.get(path) != oid]
        paths = [path for path in paths if layout.is_object(path.partition("/")[2])]
        contents = base.read([base.files[path] for path in paths])
        found[cluster] = [(f"{GENERATED}/{path}", data) for path, data in zip(paths, contents, strict=True)]
    return found


def files_at(ref: str, paths: Iterable[str], excluded: Excluded) -> Iterator[tuple[str, bytes]]:
    """Yield name and bytes of every manifest file below paths as a commit has them; what it does not have is new.

    What is left out at hand is left out here, or it would seem to be removed. Raises TrainyardError where a path is in
    no repository, or the repository has no such commit.
    """
    for name in paths:
        path = Path(name)
        folder = path if path.is_dir() else path.parent
        git = None if name == STDIN else find(folder)
        if git is None:
            raise TrainyardError(f"--against compares with a commit, but {absent(name)}; use --old")
        revision = resolve(git, ref, option="--against")
        if revision is None:
            raise ToolError(f"--against {ref!r} is not a commit of the repository that contains {name}")
        commit = revision.commit
        if path.is_dir():
            found = contents(git, commit, "", inputs.SUFFIXES)
            left = inputs.left_out(path, excluded)
            files = ((file, data) for file, data in found if inputs.is_manifest(path / file) and not left(file))
            yield from ((f"{name.rstrip('/')}/{file}", data) for file, data in files)
        elif not excluded.has(path.as_posix()) and (oid := git.object_id(commit, path.name)) is not None:
            yield name, next(git.read([oid]))
