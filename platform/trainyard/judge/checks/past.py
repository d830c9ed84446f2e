"""What a commit holds: the objects before a change, and what the change makes of volumes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from trainyard.base.errors import ToolError, TrainyardError
from trainyard.base.findings import Finding, Skipped
from trainyard.base.memory import NOTHING_KNOWN, Memory
from trainyard.base.system import cache, files
from trainyard.base.system.files import STDIN
from trainyard.base.system.git import absent, find
from trainyard.base.system.ignored import Excluded
from trainyard.base.system.repository import GENERATED
from trainyard.base.system.revisions import resolve
from trainyard.judge.checks import inputs
from trainyard.render.tree import claims, layout
from trainyard.render.tree.commit import base_of, contents
from trainyard.render.tree.disk import CACHE, Disk
from trainyard.render.tree.origins import locator
from trainyard.render.tree.snapshot import Snapshot, files_alone, from_git
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
    root: Path,
    specs: Specs,
    clusters: Iterable[str],
    *,
    now: Snapshot | None,
    base: Snapshot | None = None,
    ref: str | None = None,
    context: Collection[str] = (),
    memory: Memory = NOTHING_KNOWN,
) -> Before:
    """Return the objects at the base of a change that are other in the tree `now`, None without Git.

    `ref` leads to the base, where that was not read already. Nothing is said of the files in `context`, which are
    named by their paths below `generated/`.
    Raises ToolError where `ref` is no commit.
    """
    git = find(root) if base is None else None
    if now is None or not specs.repository.live:
        return Before()
    try:
        if git is not None:
            base = from_git(git, base_of(git, ref, revision=specs.repository.revision), memory)
    except ToolError as error:
        if ref is not None:
            raise
        return Before(skipped=(Skipped("update", f"the base of this change is unknown: {error}"),))
    if base is None or not base.live:
        return Before()
    ids = {path: oid for path, oid in now.files.items() if path not in context} if context else now.files
    found = claims.check(base, ids, now.contents, specs.clusters, locator(specs))
    return Before(replaced_objects(base, now, clusters), tuple(found))


def on_disk(root: Path, disk: Disk | None = None) -> Snapshot | None:
    """Return the files of the tree at hand, without its ledgers; None where there is no Git."""
    if disk is None:
        git = find(root)
        if git is None:
            return None
        disk = Disk(root, cache.private(CACHE, outside=root), git.algorithm)
    found = {path: oid for path, oid in disk.scan(GENERATED).items() if oid is not None}
    disk.save()
    return files_alone(found, partial(read_each, root / GENERATED), disk.algorithm)


def read_each(folder: Path, paths: Iterable[str]) -> Iterator[bytes]:
    """Yield the contents of files below a folder; none of one that is gone."""
    return (files.read(folder / path) or b"" for path in paths)


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
