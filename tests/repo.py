"""A Git repository in a folder, for tests: commits with fixed times and no configuration from outside."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

OTHERS = {"CI", "TRAINYARD_BASE"}
"""What a pipeline that runs the tests says of itself, and not of the repositories that they make."""

ENV = {
    **{key: value for key, value in os.environ.items() if not key.startswith("GIT_") and key not in OTHERS},
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_TEMPLATE_DIR": "",
    **{
        f"GIT_{who}_{what}": value
        for who in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", "t"), ("EMAIL", "t@t"))
    },
}


POLICY = '''"""A policy of one's own.

Why: {why}
Fix: f
Source: s
"""
{does}

def check(world):
    return ()
'''
"""A policy that finds nothing, and runs a line when it is read."""


class Repo:
    """One repository with the branch `main`."""

    def __init__(self, root: Path, *, branch: str = "main", create: bool = True) -> None:
        self.root = root
        if create:
            root.mkdir(parents=True, exist_ok=True)
            self.git("init", "--quiet", "--initial-branch", branch)

    def git(self, *arguments: str, ok: bool = True) -> str:
        """Run git and return what it prints; with `ok=False` it may fail."""
        done = subprocess.run(["git", *arguments], cwd=self.root, env=ENV, capture_output=True, text=True, check=False)
        if ok:
            assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout.strip()

    def put(self, name: str, text: str) -> Path:
        """Write one file."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
        return path

    def commit(self, message: str = "change") -> str:
        """Commit everything and return the id."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.git("rev-parse", "HEAD")

    def copied(self, root: Path) -> Repo:
        """Return a copy, which takes a tenth of the time of making one."""
        shutil.copytree(self.root, root, symlinks=True)
        return Repo(root, create=False)

    def clone(self, root: Path, *arguments: str) -> Repo:
        """Return a clone."""
        self.git("clone", "--quiet", *arguments, self.root.as_uri(), str(root))
        return Repo(root, create=False)
