"""Checkouts by chance: whatever Git does with a stranger's policies, none of them counts as written here.

A case lets Git work on a clone in which a stranger's branch has policies, copies the clone now and then, and looks at
every file. What has a line of the stranger's must not count; what is written by hand must, unless Git is in the middle
of something.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from trainyard.base.system.git import Git
from trainyard.base.system.trust import Checkout

THEIRS, MINE = b"THEIRS", b"MINE"
NAMES = ("policies/one.py", "policies/two.py", "platform/extra/test/platform/own.py", "platform/teams/nlp.yaml")
ATTRIBUTES = ("", "* ident\n", "* text=auto\n", "* text eol=crlf\n", "*.py text\n", "* -text\n", "* filter=x\n")
WORKS = (
    ("switch", "-q", "theirs"),
    ("switch", "-q", "main"),
    ("switch", "-q", "-m", "more"),
    ("checkout", "-q", "theirs", "--", "policies", "platform"),
    ("checkout", "-q", "more~1", "--", "policies"),
    ("restore", "--source", "theirs", "--worktree", "--", "."),
    ("restore", "--source", "theirs", "--staged", "--", "."),
    ("restore", "--source", "more", "--staged", "--worktree", "--", "policies"),
    ("cherry-pick", "--no-commit", "theirs"),
    ("cherry-pick", "more"),
    ("cherry-pick", "--quit"),
    ("merge", "-q", "--no-commit", "--no-ff", "theirs"),
    ("merge", "-q", "-X", "theirs", "--no-edit", "more"),
    ("merge", "-q", "--squash", "theirs"),
    ("merge", "--abort"),
    ("merge", "--quit"),
    ("reset", "-q"),
    ("reset", "-q", "--soft", "HEAD~1"),
    ("reset", "-q", "--mixed", "theirs"),
    ("reset", "-q", "--hard"),
    ("stash", "push", "-q", "-u"),
    ("stash", "pop", "-q"),
    ("stash", "apply", "-q", "--index"),
    ("rebase", "-q", "theirs"),
    ("rebase", "--quit"),
    ("rebase", "--abort"),
    ("revert", "--no-commit", "theirs"),
    ("read-tree", "-m", "-u", "theirs"),
    ("read-tree", "theirs"),
    ("checkout-index", "-a", "-f"),
    ("rm", "-q", "--cached", "policies/one.py"),
    ("add", "--all"),
    ("add", "-N", "."),
    ("update-index", "--assume-unchanged", "policies/one.py"),
    ("commit", "-q", "--all", "--allow-empty", "-m", "c"),
    ("am", "-q", "-3", "../mail"),
    ("am", "--quit"),
    ("gc", "-q", "--auto"),
)


def git(root: Path, *words: str) -> bytes:
    """Run git in a folder, and return what it prints, whether it succeeds or not."""
    env: Mapping[str, str] = {
        **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
        **{f"GIT_{who}_{what}": "t" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_EDITOR": "true",
        "LC_ALL": "C",
    }
    return subprocess.run(["git", *words], cwd=root, env=env, capture_output=True, check=False).stdout


def text(chance: random.Random, whose: bytes, before: bytes = b"") -> bytes:
    """Return a file of somebody's: new, or another's with lines of theirs."""
    lines = before.splitlines(keepends=True) or [b"import os\n", b"\n", b"$Id$\n", b"\n", b"def check(world):\n", b"\n"]
    for _ in range(chance.choice((1, 1, 2))):
        end = chance.choice((b"\n", b"\n", b"\r\n"))
        lines.insert(chance.randrange(len(lines) + 1), b"# " + whose + b" %d" % chance.randrange(10**9) + end)
    return b"".join(lines)


def put(root: Path, name: str, data: bytes) -> None:
    """Write a file."""
    path = root / name
    if path.is_dir() or path.is_symlink():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


@cache
def template(number: int) -> Path:
    """Return a repository with main and two branches of a stranger's, one of them with attributes; one of eight."""
    chance = random.Random(number)
    folder = Path(tempfile.mkdtemp(prefix="trainyard-fuzz-checkouts-"))
    root = folder / "repo"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    first = {name: text(chance, b"MERGED") for name in NAMES}
    for name, data in first.items():
        put(root, name, data)
    git(root, "add", "--all")
    git(root, "commit", "-q", "-m", "m")
    for branch in ("theirs", "more"):
        git(root, "switch", "-q", "-c", branch, "main")
        put(root, ".gitattributes", chance.choice(ATTRIBUTES).encode())
        for _ in range(2):
            for name in (*chance.sample(NAMES, 2), f"policies/new_{branch}.py"):
                path = root / name
                put(root, name, text(chance, THEIRS, path.read_bytes() if path.is_file() else b""))
            git(root, "add", "--all")
            git(root, "commit", "-q", "-m", branch)
    (folder / "mail").write_bytes(git(root, "format-patch", "-1", "--stdout", "theirs"))
    git(root, "switch", "-q", "main")
    return folder


def checkout(chance: random.Random) -> None:
    """Let Git work on a clone; raises AssertionError where a line of a stranger's counts as written here."""
    with tempfile.TemporaryDirectory(prefix="trainyard-fuzz-checkout-") as name:
        folder = Path(name) / "work"
        shutil.copytree(template(chance.randrange(8)), folder, symlinks=True)
        root = folder / "repo"
        if chance.random() < 0.3:
            git(root, "config", "core.autocrlf", chance.choice(("true", "input")))
        done = []
        for _ in range(chance.randrange(1, 7)):
            done.append(chance.choice(WORKS))
            git(root, *done[-1])
            if chance.random() < 0.15:
                change(chance, root)
        if chance.random() < 0.4:
            moved = Path(name) / "copy"
            shutil.copytree(folder, moved, symlinks=True)
            root = moved / "repo"
        if chance.random() < 0.1:
            (root / ".git/index").unlink(missing_ok=True)
        own = f"policies/own_{chance.randrange(3)}.py"
        put(root, own, text(chance, MINE))
        look(root, own, done)


def change(chance: random.Random, root: Path) -> None:
    """Write a file by hand, whole."""
    put(root, chance.choice(NAMES), text(chance, MINE))


def look(root: Path, own: str, done: object) -> None:
    """Hold what counts to whose lines there are."""
    held = Checkout(root, Git(root, ""), (), edits=True)
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.is_file() and name.startswith(("policies/", "platform/")) and THEIRS in path.read_bytes():
            assert name not in held.edited, f"{name} counts after {done}"
    shown = git(root, "check-attr", "text", "eol", "ident", "filter", "--", own)  # the index's, where there is no file
    plain = all(line.endswith((b": unspecified", b": unset", b": auto")) for line in shown.splitlines())
    if plain and not held.under_way():
        assert own in held.edited, f"{own} does not count after {done}"
