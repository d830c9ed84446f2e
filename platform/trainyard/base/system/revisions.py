"""Which commit a name stands for: a remote-tracking branch or a branch, and a tag only by its full name.

Git itself takes a tag before a branch of the same name (git v2.47 Documentation/revisions.txt). A tag is pushed without
a review and shows in no diff, so a tag `origin/main` must not become the base of a change.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from trainyard.base.errors import ToolError
from trainyard.base.system.git import Git

HEAD = "HEAD"
TAGS = "refs/tags/"

STEPS = re.compile(r"(?:~\d*|\^\d*|\^\{(?:commit)?\})*")
"""How a name leads on to ancestors; what Git would search for in messages and reflogs is not among it."""

UPSTREAM = re.compile(r"@\{(?:u|upstream|push)\}")
ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}", re.IGNORECASE)
SHORT_ID = re.compile(r"[0-9a-f]{4,63}", re.IGNORECASE)
FETCHED = frozenset({"FETCH_HEAD", "ORIG_HEAD", "MERGE_HEAD"})
"""Names of single commits that Git itself writes, each in a file of its own."""


@dataclass(frozen=True, slots=True)
class Revision:
    """A commit, and the full name of the reference that led to it."""

    commit: str
    ref: str | None = None
    """Full name of a branch or tag, or None where the commit was given by its id or as an ancestor of another."""


def resolve(git: Git, name: str, *, option: str) -> Revision | None:
    """Return the commit that a name stands for, or None where there is none.

    Raises ToolError, which names the `option` that gave it, where the name is a tag's, or stands for several commits.
    """
    start = min((at for at in map(name.find, ("~", "^")) if at >= 0), default=len(name))
    base, steps = name[:start], name[start:]
    if not base or base.startswith("-") or "\n" in name or not STEPS.fullmatch(steps):
        return None
    found = _named(git, base, option)
    if found is None or not steps:
        return found
    commit = git.peeled(f"{found.commit}{steps}")
    return Revision(commit) if commit else None


def _named(git: Git, name: str, option: str) -> Revision | None:
    """Return the commit of a name without steps to its ancestors."""
    if name in {HEAD, "@"}:
        head = git.head()
        return Revision(head, HEAD) if head else None
    if name in FETCHED:
        commit = git.commit_in_file(name)
        return Revision(commit) if commit else None
    if ID.fullmatch(name):
        commit = git.peeled(name)
        return Revision(commit) if commit else None
    if upstream := UPSTREAM.search(name):
        if upstream.end() != len(name) or name.startswith("refs/"):
            return None
        full = git.ask("rev-parse", "--symbolic-full-name", "--verify", "--quiet", "--end-of-options", name) or ""
        name = full if full.startswith("refs/remotes/") else ""
    if name.startswith("refs/"):
        commit = git.commits([name]).get(name)
        return Revision(commit, name) if commit else None
    return _short(git, name, option) if name else None


def _short(git: Git, name: str, option: str) -> Revision | None:
    """Return the commit of a short name: of a remote-tracking branch, a branch, or the beginning of an id."""
    places = (f"refs/remotes/{name}", f"refs/remotes/{name}/HEAD", f"refs/heads/{name}", f"refs/{name}", TAGS + name)
    known = git.commits(places)
    branches = {full: commit for full, commit in known.items() if not full.startswith(TAGS)}
    if len(set(known.values())) > 1 or (known and SHORT_ID.fullmatch(name) and _begun(git, name)):
        meant = " and ".join(known) if len(known) > 1 else f"{next(iter(known))} and the beginning of an id"
        raise ToolError(f"{option} {name!r} may mean {meant}; write the full name")
    if branches:
        full, commit = next(iter(branches.items()))
        return Revision(commit, full)
    if known:
        raise ToolError(f"{option} {name!r} is a tag, not a branch; to compare with a tag, write {TAGS}{name}")
    begun = _begun(git, name) if SHORT_ID.fullmatch(name) else []
    if len(begun) > 1:
        raise ToolError(f"{option} {name!r} is the beginning of several ids; write more of it")
    return Revision(begun[0]) if begun else None


def _begun(git: Git, start: str) -> list[str]:
    """Return the commits whose ids begin so."""
    ids = (git.ask("rev-parse", f"--disambiguate={start}") or "").split()
    return list(git.objects(ids, "commit"))
