"""How far a checkout is trusted: as far as it is the default branch, or the work of whoever is here."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from trainyard.base.errors import ToolError
from trainyard.base.system import git as system_git
from trainyard.base.system.git import Git
from trainyard.base.system.revisions import resolve
from trainyard.base.system.trust import Checkout
from trainyard.render.tree.commit import BRANCHES, default_branch, require_reviewed


def decide(root: Path, *, ref: str | None, automated: bool, said: str = "") -> Checkout | None:
    """Return the trusted state of a folder, None where all of it is trusted without anybody's word.

    The default branch is looked for by the names that a clone has of it, and not by what the checkout says of itself.
    A folder without any history is its user's own, but in a pipeline; one whose history cannot be read is nobody's,
    and neither is a submodule, which brings a default branch along. `ref` leads to the base, `said` is what
    `TRAINYARD_TRUST_CHECKOUT` says.
    """
    if said not in {"", "0"}:
        return None
    try:
        git = system_git.find(root) if root.is_dir() else None
    except ToolError:
        git, automated = None, True
    if git is None or git.is_new():
        unread = git is None and system_git.has_folder(root)
        return Checkout(root, git) if unread or automated or said == "0" else None
    if git.is_submodule():
        return Checkout(root, git)
    return Checkout(root, git, tuple(accepted_commits(git, ref)), edits=not automated)


def accepted_commits(git: Git, ref: str | None) -> list[str]:
    """Return where this branch left the default one, and the default branch itself; the same of the base.

    In a pipeline the base counts only if it is on the branch that reviewed changes go to. Raises ToolError where the
    name of the base is ambiguous.
    """
    found: list[str] = []
    head = git.head() or ""
    named = resolve(git, ref, option="--base") if ref else None
    with suppress(ToolError):
        if named and ref:
            require_reviewed(git, ref, named.commit, head)
            found += [commit for commit in (git.merge_base(named.commit, head), named.commit) if commit]
    with suppress(ToolError):  # a clone that tells no default branch has nothing that was merged
        _, target = default_branch(git, BRANCHES[0])
        found += [commit for commit in (git.merge_base(target, head), target) if commit]
    return list(dict.fromkeys(found))
