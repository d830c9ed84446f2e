"""What a commit holds: the objects before a change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from trainyard.checks import inputs
from trainyard.errors import ToolError, TrainyardError
from trainyard.system.git import find
from trainyard.system.repository import GENERATED
from trainyard.tree.commit import contents


def objects_at(root: Path, ref: str, clusters: Iterable[str]) -> Mapping[str, Sequence[tuple[str, bytes]]]:
    """Return the generated files of each cluster of a repository as a commit has them.

    Raises ToolError where there is no such commit.
    """
    git = find(root)
    commit = git.commit(ref) if git else None
    if git is None or commit is None:
        raise ToolError(f"--against {ref!r} is no commit of this repository")
    return {cluster: list(contents(git, commit, f"{GENERATED}/{cluster}", (".yaml",))) for cluster in clusters}


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
