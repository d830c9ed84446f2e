"""What of a checkout is run and believed: policies, API types, programs that nobody may have read, who may have them.

A branch of somebody else brings all of that along. In a command, what is as at the default branch counts, and what
whoever works here has edited and not committed; `docs/decisions/trust-in-a-checkout.md` says why.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path, PurePosixPath

from trainyard.base.system import files, reads, scratch
from trainyard.base.system.git import Git, blob_id
from trainyard.base.system.repository import EXTRA, TEAMS

UNSAFE = "TRAINYARD_UNSAFE_PYTHON"
"""Variable that lets programs which make jobs run without isolation, as `--unsafe-python` does."""

TRUST = "TRAINYARD_TRUST_CHECKOUT"
"""Variable that lets all of a checkout count, as `--trust-checkout` does."""

DEFAULT = "TRAINYARD_DEFAULT_BRANCH"
"""Variable that names the branch that reviewed changes go to, where the clone does not tell."""


@dataclass(frozen=True, slots=True)
class Reviewed:
    """What is known of reviews from outside the checkout."""

    branch: str = ""
    """The branch that reviewed changes go to, or empty where the clone tells."""
    demanded: bool = False
    """Whether a base has to be on that branch: in a pipeline, where the author of a change chooses its target."""


REVIEWED: ContextVar[Reviewed] = ContextVar("reviewed", default=Reviewed())  # noqa: B039 - it is frozen
"""Which branch is reviewed; in a program that imports us the clone tells, and nothing is demanded."""

IDLE = ContextVar("idle", default=False)
"""Whether such programs are left alone, in a command that only looks: their runs are what generated/ has of them."""

POLICIES, SCHEMAS = "policies", "schemas"
JUDGES = (POLICIES, EXTRA, TEAMS)
"""Folders of what is run, and of what says who may have programs."""

UNDER_WAY = (
    *("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD", "SQUASH_MSG", "AUTO_MERGE"),
    *("rebase-apply", "rebase-merge", "sequencer"),
)
"""Files and folders that Git has while it brings what others have committed.

Source: git v2.47 Documentation/git-{merge,am,rebase,cherry-pick}.txt, wt-status.c.
"""

TRANSLATING = ("text", "eol", "crlf", "ident", "filter", "working-tree-encoding")
"""Attributes by which a checkout writes another content than Git has stored.

Source: git v2.47 Documentation/gitattributes.txt.
"""

HARMLESS = frozenset({None, "lf"})
"""Line endings with which a checkout adds none."""

IDENT = re.compile(rb"\$Id:[^$\n]*\$")
"""What the attribute `ident` makes of `$Id$`."""


@contextmanager
def idle(*, left: bool = True) -> Iterator[None]:
    """Leave programs that make jobs alone, or run them, as `left` says, for as long as the context lasts."""
    token = IDLE.set(left)
    try:
        yield
    finally:
        IDLE.reset(token)


def unsafe() -> bool:
    """Say whether somebody has read the programs and lets them run without isolation."""
    return (reads.variable(UNSAFE) or "") not in {"", "0"}


@dataclass(frozen=True)
class Checkout:
    """A folder whose files count only where somebody has accepted them."""

    root: Path
    git: Git | None
    commits: Sequence[str] = ()
    """The default branch, and where this branch left it."""
    edits: bool = False
    """Whether what is not committed counts, since only whoever works here can have written it."""
    types: dict[str, dict[str, str]] = field(default_factory=dict)
    """The API types of commits that were asked about, by their paths."""

    @cached_property
    def accepted(self) -> Sequence[Mapping[str, str]]:
        """The content ids of files that decide, in each of the commits."""
        return [self.at(commit) for commit in self.commits]

    @cached_property
    def edited(self) -> frozenset[str]:
        """The files that whoever works here has written: Git has never stored what they hold.

        Git stores what a branch brings, however it comes into the working tree: by a checkout, a merge, a cherry-pick
        or a stash. What somebody stages or commits is stored too, and counts once it is merged. Times of files tell
        nothing: in a copy of a clone all of them are new.
        """
        return self.edited_below(*JUDGES)

    def edited_below(self, *tops: str) -> frozenset[str]:
        """Return the files below folders that whoever works here has written."""
        if not self.edits or self.git is None or self.under_way() or self.git.is_partial():
            return frozenset()
        staged = {entry.path: entry for entry in self.git.staged(*tops)}
        listed = (f"{top}/{entry.path}" for top in tops for entry in files.walk(self.root / top))
        new = {path for path in listed if path not in staged and not self.foreign(path)}
        changed = {path for path in self.git.unstaged(*tops) if path in staged}
        head = self.git.files("HEAD", *tops) if self.git.head() else {}
        index = {path: "" if entry.stage else entry.oid for path, entry in staged.items()}  # in conflict: nobody's
        over = (path for path in sorted(new | changed) if self.is_merged(path, head.get(path), index.get(path)))
        return self.unknown_to_git(list(over))

    def is_merged(self, path: str, *stored: str | None) -> bool:
        """Say whether the contents that Git has stored of a path are merged ones, or there are none.

        Over what a branch has brought nobody's edit counts: attributes that it had, and has no more, may have made
        another content of that.
        """
        merged = [self.below(commit) for commit in self.commits] if path.startswith(f"{SCHEMAS}/") else self.accepted
        return all(oid is None or any(side.get(path) == oid for side in merged) for oid in stored)

    def unknown_to_git(self, paths: Sequence[str]) -> frozenset[str]:
        """Return those files of which Git has never stored the content, whatever line endings it would store.

        Of a file that attributes translate in another way nothing is known.
        """
        if self.git is None or not paths:
            return frozenset()
        translated = self.git.attributes(TRANSLATING, paths)
        known = {path: data for path in paths if (data := files.read(self.root / path)) is not None}
        forms = {path: forms_of(data) for path, data in known.items()}
        ids = {path: {blob_id(form, self.git.algorithm) for form in form} for path, form in forms.items()}
        stored = self.git.objects({oid for id_ in ids.values() for oid in id_})
        return frozenset(
            path
            for path, id_ in ids.items()
            if not id_ & stored and not is_translated(translated.get(path, {}), known[path])
        )

    def under_way(self) -> bool:
        """Say whether Git is in the middle of bringing what others have committed."""
        if self.git is None:
            return False
        places = self.git.ask("rev-parse", *(word for name in UNDER_WAY for word in ("--git-path", name))) or ""
        return any(os.path.lexists(self.root / place) for place in places.splitlines())

    def foreign(self, path: str) -> bool:
        """Say whether a file lies behind a link or in another repository, such as a submodule: Git knows no edit of it.

        Both come with a branch, and are in no index of ours.
        """
        folders = [self.root / parent for parent in PurePosixPath(path).parents if parent.parts]
        return any(folder.is_symlink() or os.path.lexists(folder / ".git") for folder in folders)

    def at(self, commit: str) -> dict[str, str]:
        """Return the content ids of files that decide, in a commit."""
        if self.git is None:
            return {}
        found = {path: oid for path, oid in self.git.files(commit, *JUDGES).items() if path not in JUDGES}
        (types,) = self.git.object_ids(commit, SCHEMAS, sort="tree")
        return found if types is None else {**found, SCHEMAS: types}

    def counts(self, path: str) -> bool:
        """Say whether a file at hand counts as it is."""
        data = files.read(self.root / path)
        if data is None:
            return False
        oid = blob_id(data, self.git.algorithm if self.git else "sha1")
        return any(listing.get(path) == oid for listing in self.accepted) or path in self.edited

    def text(self, path: str) -> bytes | None:
        """Return the trusted bytes of a file: as at hand, or as accepted before, or None where neither has it."""
        if self.counts(path):
            return files.read(self.root / path)
        oid = next((listing[path] for listing in self.accepted if path in listing), None)
        return next(self.git.read([oid])) if self.git and oid else None

    def names(self, folder: str) -> list[str]:
        """Return the names of the files right below a folder, at hand and where they were accepted, sorted."""
        there = [file.path for file in files.walk(self.root / folder) if file.regular]
        before = [path.removeprefix(f"{folder}/") for listing in self.accepted for path in listing]
        known = {path for path in before if f"{folder}/{path}" in (self.accepted[0] if self.accepted else {})}
        return sorted({name for name in {*there, *known} if "/" not in name})

    def schemas(self) -> bool:
        """Say whether the API types at hand are as they were accepted, but for what was edited here."""
        if self.git is None:
            return False
        staged = {entry.path: entry.oid for entry in self.git.staged(SCHEMAS)}
        merged = [self.below(commit) for commit in self.commits]
        if staged and staged not in merged:
            return False
        changed = (path for path in self.git.unstaged(SCHEMAS) if (self.root / path).exists())
        listed = (f"{SCHEMAS}/{entry.path}" for entry in files.walk(self.root / SCHEMAS))
        others = {*changed, *(path for path in listed if path not in staged)}
        if not others:
            return True
        read = {path: blob_id(files.read(self.root / path) or b"", self.git.algorithm) for path in others}
        reviewed = {oid for listing in merged for oid in listing.values()}  # as a release has a file of the one before
        return {path for path, oid in read.items() if oid not in reviewed} <= self.edited_below(SCHEMAS)

    def below(self, commit: str) -> dict[str, str]:
        """Return the content ids of API types in a commit, by their paths."""
        if commit not in self.types:
            self.types[commit] = self.git.files(commit, SCHEMAS) if self.git else {}
        return self.types[commit]


def forms_of(data: bytes) -> set[bytes]:
    """Return how Git may have stored a file: as it is, with its line endings, and without what it expanded in it."""
    plain = IDENT.sub(b"$Id$", data)
    return {form for text in (data, plain) for form in (text, text.replace(b"\r\n", b"\n"))}


def is_translated(attributes: Mapping[str, str], data: bytes) -> bool:
    """Say whether a checkout may have made another content of what Git has stored."""
    values = {name: value for name, value in attributes.items() if value not in {"unspecified", "unset"}}
    lines = values.pop("text", "auto") != "auto" or bool({values.pop("eol", None), values.pop("crlf", None)} - HARMLESS)
    return bool(values) or (lines and b"\r" in data)


DECIDE: ContextVar[Callable[[Path], Checkout | None] | None] = ContextVar("decide", default=None)
"""What says of a folder how far it is trusted, None being all; without it, as in a program that imports us, all is."""


def checkout(root: Path) -> Checkout | None:
    """Return the trusted state of a folder, None where all of it is trusted."""
    decide = DECIDE.get()
    return decide(root.resolve()) if decide else None


def policies(root: Path) -> list[Path]:
    """Return the files of a repository's policies that count: at hand, or copies of what was accepted."""
    held, folder = checkout(root), (root / POLICIES).resolve()
    if held is None:
        return list(folder.glob("*"))
    found = []
    for name in held.names(POLICIES):
        if held.counts(f"{POLICIES}/{name}"):
            found.append(folder / name)
        elif (text := held.text(f"{POLICIES}/{name}")) is not None:
            found.append(copy_file(name, text))
    return found


def left_out(root: Path, *, ours: bool) -> list[str]:
    """Return the files that are run, or judge, and do not count; `ours` says that policies and types come with us."""
    held = checkout(root)
    if held is None:
        return []
    names = [] if ours else held.names(POLICIES)
    paths = [f"{POLICIES}/{name}" for name in names if Path(name).suffix in {".py", ".yaml"}]
    paths += [f"{EXTRA}/{file.path}" for file in files.walk(root / EXTRA) if file.path.endswith(".py")]
    lacking = [path for path in paths if not held.counts(path)]
    judges = not ours and (root / SCHEMAS / "lock.yaml").is_file() and not held.schemas()
    return [*lacking, *([f"{SCHEMAS}/lock.yaml"] if judges else [])]


def copy_file(name: str, text: bytes) -> Path:
    """Return a file that has a text, for as long as this process runs."""
    path = kept_folder(os.getpid()) / blob_id(text) / name
    if not path.exists():
        files.write(path, text)
    return path


@lru_cache(maxsize=1)
def kept_folder(_process: int) -> Path:
    """Return a folder of this process alone, which goes with it."""
    return scratch.lasting_folder("accepted")
