"""Git, read only: which commit a change is compared with, and what a commit holds."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from trainyard.base.errors import ToolError
from trainyard.base.system import files, git_command, process

FILTERS = r"^filter\..*\.(clean|smudge|process|required)$"
"""Settings by which attributes of files start programs: `clean` where a file is compared with the index."""

REGULAR = frozenset({"100644", "100755"})
ENTRY = re.compile(r"(\S) ([0-7]+) ([0-9a-f]+) (\d)\t([^\0]+)\0")
"""An entry of `git ls-files --stage -v -z`."""

BATCH = 4096
"""Objects asked for at once; bounds the memory that reading takes."""


class Staged(NamedTuple):
    """A path in the index."""

    path: str
    mode: str
    oid: str
    hidden: bool
    """Whether Git is told to look at no file for it: it is not checked out, or taken for unchanged."""
    stage: int = 0
    """0, or the side of a conflict."""


@dataclass(frozen=True, slots=True)
class Git:
    """A repository and the folder in it that we work on; nothing here ever writes."""

    root: Path
    """The folder."""
    prefix: str
    """Path of the folder in the repository, empty or ending in a slash."""
    algorithm: str = "sha1"
    """How contents are named."""

    def call(self, *arguments: str, stdin: bytes = b"", settings: Mapping[str, str] | None = None) -> process.Completed:
        """Run `git` in the folder, without locks, prompts, hooks or replaced objects, and with more settings."""
        return git_command.run(self.root, arguments, stdin=stdin, settings=settings or {})

    def ask(self, *arguments: str) -> str | None:
        """Return the answer without its line end, or None where Git says no."""
        done = self.call(*arguments)
        return done.out.decode("utf-8", "surrogateescape").rstrip("\n") if done.code == 0 else None

    def peeled(self, expression: str) -> str | None:
        """Return the commit of an id, or of an id with steps to its ancestors; None where there is none."""
        return self.ask("rev-parse", "--verify", "--quiet", "--end-of-options", f"{expression}^{{commit}}")

    def commits(self, names: Iterable[str]) -> dict[str, str]:
        """Return the commits of references that exist, by their full names, in the order of the names.

        No other reference stands in for one that is missing: Git itself would look for `refs/tags/<name>` then.
        """
        asked = list(dict.fromkeys(name for name in names if name.startswith("refs/") and "\n" not in name))
        shown = "--format=%(objectname) %(objecttype) %(refname)"
        listed = self.ask("for-each-ref", shown, "--", *asked) if asked else None
        lines = (line.split(" ", 2) for line in (listed or "").splitlines())
        known = {ref: (oid, kind) for oid, kind, ref in lines if ref in asked}
        found: dict[str, str | None] = {ref: oid for ref, (oid, kind) in known.items() if kind == "commit"}
        tags = {ref: oid for ref, (oid, kind) in known.items() if kind != "commit"}
        found |= zip(tags, self._peel(tags.values()), strict=True)
        return {name: commit for name in asked if (commit := found.get(name))}

    def _peel(self, ids: Iterable[str]) -> list[str | None]:
        """Return the commit that each object leads to, or None where it leads to another kind of object."""
        answers = self._checked(f"{oid}^{{commit}}" for oid in ids)
        return [words[1] if words[0] == "commit" else None for words in answers]

    def objects(self, ids: Iterable[str], kind: str = "") -> frozenset[str]:
        """Return those of these full ids of which this clone has the object; with `kind`, an object of that type."""
        asked = list(dict.fromkeys(ids))
        answers = zip(asked, self._checked(asked), strict=True)
        return frozenset(oid for oid, words in answers if words[1] != "missing" and kind in {"", words[0]})

    def _checked(self, expressions: Iterable[str]) -> list[tuple[str, str]]:
        """Return type and id of objects; of those that are not there, another text and `missing`."""
        lines = "".join(f"{expression}\n" for expression in expressions)
        if not lines:
            return []
        done = self.call("cat-file", "--batch-check=%(objecttype) %(objectname)", stdin=lines.encode())
        pairs = (line.rpartition(" ") for line in done.out.decode("utf-8", "surrogateescape").splitlines())
        return [(before, last) for before, _, last in pairs]

    def head(self) -> str | None:
        """Return the commit at hand, or None before the first one."""
        return self.ask("show-ref", "--verify", "--hash", "HEAD")

    def commit_in_file(self, name: str) -> str | None:
        """Return the commit that Git has written to a file of its own, such as MERGE_HEAD; None without that file.

        A reference of that name, which anybody may have pushed, is not looked at.
        """
        data = self.own_file(name)
        first = (data or b"").split(b"\n", 1)[0].split(b"\t", 1)[0].decode("ascii", "replace")
        return self.peeled(first) if re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", first) else None

    def own_file(self, name: str) -> bytes | None:
        """Return the content of a plain file in Git's own folder, or None where it is not there."""
        path = self.ask("rev-parse", "--git-path", name)
        return files.read(self.root / path) if path else None

    def shallow(self) -> bool:
        """Say whether the history is cut off."""
        return self.ask("rev-parse", "--is-shallow-repository") == "true"

    def first_parent(self, commit: str) -> str | None:
        """Return the commit's first parent, or None for a first commit; raises ToolError where it was not fetched."""
        done = self.call("cat-file", "commit", commit)
        if done.code:
            raise ToolError(f"git cannot read commit {commit[:12]}: {done.complaint}")
        header = done.out.partition(b"\n\n")[0].decode("utf-8", "replace").splitlines()
        parents = [line.removeprefix("parent ") for line in header if line.startswith("parent ")]
        if not parents:
            return None
        if self.peeled(parents[0]) is None:
            raise ToolError("this clone is shallow and lacks the commit before HEAD; fetch it: git fetch --deepen=1")
        return parents[0]

    def merge_base(self, one: str, *others: str) -> str | None:
        """Return the best common ancestor of one commit and a merge of the others, or None where there is none."""
        if one in others:
            return one
        return self.ask("merge-base", one, *others)

    def is_new(self) -> bool:
        """Say whether the repository has no commit yet: HEAD names a branch to come, and there is no reference."""
        if self.head() is not None or self.ask("symbolic-ref", "--quiet", "HEAD") is None:
            return False
        listed = self.call("for-each-ref", "--count=1")
        return listed.code == 0 and not listed.out

    def is_submodule(self) -> bool:
        """Say whether the repository is part of another one's tree."""
        return bool(self.ask("rev-parse", "--show-superproject-working-tree"))

    def is_ancestor(self, commit: str, of: str) -> bool:
        """Say whether a commit is another, or one of its ancestors."""
        return self.call("merge-base", "--is-ancestor", commit, of).code == 0

    def branches(self, pattern: str) -> list[str]:
        """Return the full names of the branches below `refs/heads` or `refs/remotes`, sorted."""
        return (self.ask("for-each-ref", "--format=%(refname)", pattern) or "").split()

    def changed(self) -> bool:
        """Say whether the folder holds anything that HEAD does not: changed, staged, or new and not ignored."""
        asked = ("status", "--porcelain", "-z", "--untracked-files=normal", "--ignore-submodules=dirty", "--", ".")
        done = self.call(*asked, settings=self._unfiltered())
        if done.code:
            raise ToolError(f"git status failed: {done.complaint}")
        return bool(done.out)

    def staged(self, *folders: str) -> list[Staged]:
        """Return the entries of the index below folders of ours; none where it has none."""
        done = self.call("ls-files", "--stage", "-v", "-z", "--", *folders)
        if done.code:
            raise ToolError(f"git cannot list the index: {done.complaint}")
        entries = ENTRY.findall(done.out.decode("utf-8", "surrogateescape"))
        return [Staged(path, mode, oid, tag in "Ssh", int(stage)) for tag, mode, oid, stage, path in entries]

    def unstaged(self, *paths: str) -> frozenset[str]:
        """Return the files at or below paths of ours that are not as the index has them, as Git sees it."""
        done = self.call(
            "--literal-pathspecs",
            "diff-files",
            "--name-only",
            "-z",
            "--relative",
            "--ignore-submodules=all",
            "--",
            *paths,
            settings=self._unfiltered(),
        )
        if done.code:
            raise ToolError(f"git cannot compare files: {done.complaint}")
        listed = done.out.decode("utf-8", "surrogateescape").split("\0")
        return frozenset(path for path in listed if path)

    def _unfiltered(self) -> dict[str, str]:
        """Return the settings that take away every program by which attributes would translate files."""
        names = self.ask("config", "--name-only", "-z", "--get-regexp", FILTERS) or ""
        return {name: "false" if name.endswith(".required") else "" for name in names.split("\0") if name}

    def attributes(self, names: Sequence[str], paths: Sequence[str]) -> dict[str, dict[str, str]]:
        """Return the values of attributes of files, by path and name."""
        asked = "".join(f"{path}\0" for path in paths).encode("utf-8", "surrogateescape")
        done = self.call("check-attr", "-z", "--stdin", *names, stdin=asked)
        if done.code:
            raise ToolError(f"git cannot read attributes: {done.complaint}")
        words = done.out.decode("utf-8", "surrogateescape").split("\0")
        found: dict[str, dict[str, str]] = {}
        for path, name, value in zip(words[0::3], words[1::3], words[2::3], strict=False):
            found.setdefault(path, {})[name] = value
        return found

    def is_partial(self) -> bool:
        """Say whether the clone may lack objects that a remote has, so that nothing follows from their absence."""
        return self.call("config", "--get-regexp", r"^(extensions\.partialclone|remote\..*\.promisor)$").code == 0

    def kept_files(self) -> list[str] | None:
        """Return the files of the folder that are tracked or not ignored, or None where Git cannot list them.

        Another repository in it is named as a folder.
        """
        done = self.call("ls-files", "--cached", "--others", "--exclude-standard", "-z")
        if done.code:
            return None
        return [path for path in done.out.decode("utf-8", "surrogateescape").split("\0") if path]

    def ignored(self, paths: Iterable[str]) -> list[str]:
        """Return which of these paths below the folder are ignored, whether they are there or not."""
        asked = "".join(f"{path}\0" for path in paths).encode("utf-8", "surrogateescape")
        done = self.call("check-ignore", "-z", "--stdin", stdin=asked)
        return [path for path in done.out.decode("utf-8", "surrogateescape").split("\0") if path]

    def ignores_itself(self) -> bool:
        """Say whether the folder as a whole is ignored, whatever of it is tracked."""
        if not self.prefix:
            return False
        done = self.call("check-ignore", "--no-index", "--quiet", "--", str(self.root))
        return done.code == 0

    def object_id(self, commit: str, path: str) -> str | None:
        """Return the id of a file or folder of ours in a commit, or None where it is not there."""
        full = f"{self.prefix}{path}".rstrip("/")
        return self.ask("rev-parse", "--verify", "--quiet", "--end-of-options", f"{commit}:{full}")

    def object_ids(self, commit: str, *paths: str, sort: str | None = None) -> list[str | None]:
        """Return the ids of files or folders of ours in a commit, asked for at once; None for what is not there.

        `sort` says that only folders (`tree`) or files (`blob`) are meant: a folder may be a link, or a submodule.
        """
        wanted = [f"{self.prefix}{path}" for path in paths]
        answer = self.ask("ls-tree", "-z", "--full-tree", "--", commit, *wanted) or ""
        entries = (record.partition("\t") for record in answer.split("\0"))
        known = ((path, about.split()) for about, _, path in entries if path)
        found = {path: words[2] for path, words in known if sort in (None, words[1])}
        return [found.get(path) for path in wanted]

    def files(self, commit: str, *paths: str) -> dict[str, str]:
        """Return the object ids of every plain file of a commit at or below paths of ours, by their names for us."""
        found = self.listing(commit, *(f"{self.prefix}{path}" for path in paths))
        return {path.removeprefix(self.prefix): oid for path, oid in found.items()}

    def listing(self, tree: str, *paths: str) -> dict[str, str]:
        """Return every plain file of a folder, given by its object id: path below the folder -> object id.

        With `paths`, those at or below them.
        """
        done = self.call("ls-tree", "-r", "-z", "--full-tree", "--", tree, *paths)
        if done.code:
            raise ToolError(f"git cannot list folder {tree[:12]}: {done.complaint}")
        found: dict[str, str] = {}
        for record in done.out.decode("utf-8", "surrogateescape").split("\0"):
            about, _, path = record.partition("\t")
            mode, kind, oid = about.split() if about else ("", "", "")
            if kind == "blob" and mode in REGULAR:
                found[path] = oid
        return found

    def read(self, oids: Iterable[str]) -> Iterator[bytes]:
        """Yield the content of files by their object ids, in order."""
        wanted = list(oids)
        for start in range(0, len(wanted), BATCH):
            yield from self._batch(wanted[start : start + BATCH])

    def _batch(self, oids: Sequence[str]) -> Iterator[bytes]:
        done = self.call("cat-file", "--batch", stdin="".join(f"{oid}\n" for oid in oids).encode())
        out, position = done.out, 0
        for oid in oids:
            end = out.find(b"\n", position)
            words = out[position:end].split()
            if end < 0 or len(words) != 3:
                raise ToolError(f"git has no object {oid[:12]}; {self._why(done)}")
            size = int(words[2])
            yield out[end + 1 : end + 1 + size]
            position = end + 2 + size

    def _why(self, done: process.Completed) -> str:
        return done.complaint if done.code else "fetch what is missing: git fetch --refetch"


def is_installed() -> bool:
    """Whether the program is there."""
    return shutil.which("git") is not None


def find(root: Path) -> Git | None:
    """Return the repository that holds a folder, or None where there is none or Git is not installed.

    Raises ToolError where Git refuses to read it, as it does for a repository of somebody else.
    """
    if not is_installed():
        return None
    done = Git(root, "").call("rev-parse", "--is-inside-work-tree", "--show-object-format", "--show-prefix")
    if done.code:
        if done.err.startswith(b"fatal: not a git repository (or any"):
            return None
        raise ToolError(f"git cannot read the repository: {done.complaint}")
    inside, algorithm, prefix = done.out.decode("utf-8", "surrogateescape").split("\n", 2)
    return Git(root, prefix.rstrip("\n"), algorithm) if inside == "true" else None


def has_folder(root: Path) -> bool:
    """Say whether a folder, or one above it, has what Git keeps, whether Git can read it or not."""
    return os.path.lexists(top(root) / ".git")


def top(root: Path) -> Path:
    """Return the top of the repository that holds a folder, by what Git keeps there; without one the folder."""
    here = root.resolve()
    return next((folder for folder in (here, *here.parents) if os.path.lexists(folder / ".git")), here)


def absent(where: str = "this folder") -> str:
    """Say why `find` has found no repository: the program is missing, or the repository."""
    return f"{where} is in no Git repository" if is_installed() else "the program git is not installed"


def blob_id(content: bytes, algorithm: str = "sha1") -> str:
    """Return the id that Git gives a file's content."""
    hashed = hashlib.new(algorithm, b"blob %d\0" % len(content), usedforsecurity=False)
    hashed.update(content)
    return hashed.hexdigest()
