"""Which commit a change is compared with: what exists there is frozen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from trainyard.base.errors import ToolError
from trainyard.base.system.git import Git
from trainyard.base.system.repository import SETTINGS
from trainyard.base.system.revisions import HEAD, resolve
from trainyard.base.system.trust import DEFAULT, REVIEWED
from trainyard.render.tree.settings import settings

ASK = "in CI, set the commit to compare with: --base REF, or TRAINYARD_BASE"
"""A checkout of a pipeline may lack the branches that tell the base, so nothing is guessed there."""

SAY = f"name it in {DEFAULT} as refs/…, or set the commit to compare with: --base REF"
HEADS = "refs/heads"
BRANCHES = ("main", "master")
NOTHING = "nothing, because everything is new"


@dataclass(frozen=True, slots=True)
class Base:
    """The commit that a change is compared with, and how it was found."""

    commit: str | None
    """None where there is nothing before the change."""
    ref: str = ""
    """Full name of the branch that the change goes to, or the id that was given for it."""
    at: bool = False
    """Whether the commit is the tip of that branch."""

    def __str__(self) -> str:
        """Return the commit and the branch, in words."""
        if self.commit is None:
            return NOTHING
        short = self.commit[:12]
        if not self.ref or self.ref == self.commit:
            return f"commit {short}"
        return f"{self.ref} at commit {short}" if self.at else f"commit {short}, where this branch left {self.ref}"


def base_commit(git: Git, ref: str | None = None, *, revision: str = "main", writing: bool = False) -> str | None:
    """Return the commit of `base_of`."""
    return base_of(git, ref, revision=revision, writing=writing).commit


def base_of(git: Git, ref: str | None = None, *, revision: str = "main", writing: bool = False) -> Base:
    """Return the commit that the tree at hand is compared with.

    That is the merge base of HEAD and `ref`, or of HEAD and the default branch. On the default branch itself it is
    the first parent of the commit that is judged: of HEAD where HEAD is what the tree holds, and HEAD where the
    tree is to become the next commit, as it is while `writing` or with anything uncommitted.

    Raises ToolError where the commit cannot be told, was not fetched, or has to be reviewed and is not.
    """
    head, merging = git.head(), git.commit_in_file("MERGE_HEAD")
    if ref is not None:
        target = resolve(git, ref, option="--base")
        if target is None:
            raise ToolError(f"--base {ref!r} is not a commit of this repository; fetch it, or use another")
        if head is None:
            return Base(target.commit, target.ref or target.commit, at=True)
        require_reviewed(git, ref, target.commit, head)
        named, goal = "" if target.ref in {None, HEAD} else target.ref or "", target.commit
        shown = target.ref or target.commit
    elif head is None:
        return Base(None)
    else:
        named, goal = default_branch(git, revision)
        ref = shown = named
    found = head if goal == head else git.merge_base(goal, head, *([merging] if merging else []))
    if not found:
        raise ToolError(f"HEAD and {ref} have no common commit here{_hint(git)}")
    if found != head or not is_at(git, named) or writing or git.changed():
        return Base(found, shown, at=found == goal)
    return Base(git.first_parent(head))


def require_reviewed(git: Git, ref: str, commit: str, head: str) -> None:
    """Raise ToolError where a base has to be on the branch that reviewed changes go to, and is not.

    The author of a change may choose its target, and edit a merged run on a branch of their own first. Nothing is
    asked where HEAD itself is on that branch.
    """
    if not REVIEWED.get().demanded:
        return
    try:
        branch, tip = default_branch(git, BRANCHES[0])
    except ToolError as error:
        raise ToolError(f"the base has to be on the default branch: {error}") from error
    if not git.is_ancestor(commit, tip) and not git.is_ancestor(head, tip):
        raise ToolError(f"--base {ref!r} is not on {branch}; use that branch, or set {DEFAULT} to a reviewed one")


def default_branch(git: Git, revision: str) -> tuple[str, str]:
    """Return the full name and the commit of the default branch: the remote's where there is one, else the local one.

    `revision` is what Argo CD syncs, as the tree at hand says; a merged branch that says otherwise counts more.
    Raises ToolError where several branches could be meant.
    """
    reviewed = REVIEWED.get()
    if said := reviewed.branch:
        target = resolve(git, said, option=DEFAULT)
        if target is None:
            raise ToolError(f"{DEFAULT} {said!r} is not a commit of this repository; fetch it")
        return target.ref or target.commit, target.commit
    remotes = (git.ask("remote") or "").split()
    if len(remotes) > 1 and "origin" not in remotes:
        raise ToolError(f"cannot tell which of the remotes {', '.join(remotes)} has the default branch; {SAY}")
    remote = remotes[0] if len(remotes) == 1 else "origin"
    names = dict.fromkeys((revision, *BRANCHES))
    pointer = f"refs/remotes/{remote}/HEAD"
    known = git.commits([pointer, *(f"{place}/{name}" for place in _places(remote) for name in names)])
    if pointer in known and (target_of := git.ask("symbolic-ref", "--quiet", pointer)):
        return target_of, known[pointer]
    if remotes and reviewed.demanded:
        raise ToolError(f"refs/remotes/{remote}/HEAD is missing; {SAY}")
    for place in _places(remote):
        there = {name: known[f"{place}/{name}"] for name in names if f"{place}/{name}" in known}
        if len(there) > 1 and place != HEADS:
            names_of = " or ".join(f"{place}/{name}" for name in there)
            raise ToolError(f"the default branch may be {names_of}; run git remote set-head {remote} --auto, or {SAY}")
        if there:
            name = default_branch_name(git, revision, there)
            return f"{place}/{name}", there[name]
    local = git.branches("refs/heads")
    if len(local) == 1 and not git.branches("refs/remotes") and (commit := git.commits(local).get(local[0])):
        return local[0], commit
    raise ToolError(f"cannot tell the default branch; {SAY}")


def _places(remote: str) -> tuple[str, str]:
    return f"refs/remotes/{remote}", HEADS


def default_branch_name(git: Git, revision: str, there: dict[str, str]) -> str:
    """Return which of the branches that are there is the default one.

    A branch may write its own name to `revision` of `platform/repository.yaml`. So where `main` or `master` is there
    too, what that one says decides, as long as it says anything.
    """
    first = next(iter(there))
    merged = next((name for name in BRANCHES if name in there), None)
    if first != revision or first in BRANCHES or merged is None:
        return first
    found = git.object_id(there[merged], SETTINGS)
    said = settings(next(git.read([found])))[1] if found else revision
    return said if said in there else merged


def is_at(git: Git, branch: str) -> bool:
    """Say whether the tree at hand is that branch itself, checked out by its name or as a commit without one."""
    current = git.ask("symbolic-ref", "--quiet", "HEAD")
    if branch.startswith("refs/remotes/"):
        remotes = sorted((git.ask("remote") or "").split(), key=len, reverse=True)
        held = next((remote for remote in remotes if branch.startswith(f"refs/remotes/{remote}/")), None)
        name = branch.removeprefix(f"refs/remotes/{held}/") if held else branch.split("/", 3)[-1]
        branch = f"{HEADS}/{name}"
    return bool(branch) and (current is None or current == branch)


def _hint(git: Git) -> str:
    return "; this clone is shallow, fetch more: git fetch --unshallow" if git.shallow() else "; give another --base"


def contents(git: Git, commit: str, folder: str, suffixes: tuple[str, ...] = ("",)) -> Iterator[tuple[str, bytes]]:
    """Yield path and bytes of every file of a folder in a commit, sorted; nothing where it has none."""
    tree = git.object_id(commit, folder)
    listed = git.listing(tree) if tree else {}
    wanted = {path: oid for path, oid in sorted(listed.items()) if path.endswith(suffixes)}
    for path, data in zip(wanted, git.read(wanted.values()), strict=True):
        yield f"{folder}/{path}" if folder else path, data
