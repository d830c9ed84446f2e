"""Which commit a change is compared with: what exists there is frozen."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.errors import ToolError
from trainyard.system.git import Git

ASK = "in CI, say what to compare with: --base REF, or TRAINYARD_BASE"
"""A checkout of a pipeline may lack the branches that tell the base, so nothing is guessed there."""

BRANCHES = ("main", "master")


def base_commit(git: Git, ref: str | None = None, *, revision: str = "main", writing: bool = False) -> str | None:
    """Return the commit that the tree at hand is compared with, or None where there is nothing before it.

    That is the merge base of HEAD and `ref`, or of HEAD and the default branch. On the default branch itself it is
    the first parent of the commit that is judged: of HEAD where HEAD is what the tree holds, and HEAD where the
    tree is to become the next commit, as it is while `writing` or with anything uncommitted.

    Raises ToolError where the commit cannot be told or was not fetched.
    """
    known = git.commits(("HEAD", "MERGE_HEAD"))
    head, merging = known.get("HEAD"), known.get("MERGE_HEAD")
    if ref is not None:
        target = git.commit(ref)
        if target is None:
            raise ToolError(f"--base {ref!r} is no commit of this repository; fetch it, or give another")
        if head is None:
            return target
        named = "" if ref in {"HEAD", "@"} else git.ask("rev-parse", "--symbolic-full-name", ref) or ""
    elif head is None:
        return None
    else:
        ref, target = default_branch(git, revision)
        named = ref
    found = head if target == head else git.merge_base(target, head, *([merging] if merging else []))
    if not found:
        raise ToolError(f"HEAD and {ref} have no common commit here{_hint(git)}")
    if found != head or not is_at(git, named) or writing or git.changed():
        return found
    return git.first_parent(head)


def default_branch(git: Git, revision: str) -> tuple[str, str]:
    """Return the full name and the commit of the default branch: the remote's where there is one, else the local one.

    `revision` is what Argo CD syncs. Raises ToolError where several branches could be meant.
    """
    remotes = (git.ask("remote") or "").split()
    remote = "origin" if "origin" in remotes or not remotes else remotes[0]
    names = dict.fromkeys((revision, *BRANCHES))
    pointer = f"refs/remotes/{remote}/HEAD"
    candidates = [f"refs/remotes/{remote}/{name}" for name in names] + [f"refs/heads/{name}" for name in names]
    known = git.commits([pointer, *candidates])
    if pointer in known and (target := git.ask("symbolic-ref", "--quiet", pointer)):
        return target, known[pointer]
    for candidate in candidates:
        if candidate in known:
            return candidate, known[candidate]
    local = git.branches("refs/heads")
    if len(local) == 1 and not git.branches("refs/remotes") and (commit := git.commit(local[0])):
        return local[0], commit
    raise ToolError("cannot tell the default branch; say what to compare with: --base REF")


def is_at(git: Git, branch: str) -> bool:
    """Say whether the tree at hand is that branch itself, checked out by its name or as a commit without one."""
    current = git.ask("symbolic-ref", "--quiet", "HEAD")
    short = branch.removeprefix("refs/heads/")
    if branch.startswith("refs/remotes/"):
        short = branch.split("/", 3)[-1]
    return bool(branch) and (current is None or current == f"refs/heads/{short}")


def _hint(git: Git) -> str:
    return "; this clone is shallow, fetch more: git fetch --unshallow" if git.shallow() else "; give another --base"


def contents(git: Git, commit: str, folder: str, suffixes: tuple[str, ...] = ("",)) -> Iterator[tuple[str, bytes]]:
    """Yield path and bytes of every file of a folder in a commit, sorted; nothing where it has none."""
    tree = git.object_id(commit, folder)
    listed = git.listing(tree) if tree else {}
    wanted = {path: oid for path, oid in sorted(listed.items()) if path.endswith(suffixes)}
    for path, data in zip(wanted, git.read(wanted.values()), strict=True):
        yield f"{folder}/{path}" if folder else path, data
