"""What we print and write installs nothing by a name that somebody else may have on an index."""

from __future__ import annotations

import re
import subprocess
import tomllib
from functools import cache
from pathlib import Path

import pytest

from conftest import ROOT
from trainyard import __version__
from trainyard.base.system.distribution import NAME

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
INSTALL = re.compile(
    r"\b(?:(?:pip3?|uv|pipx)\s+(?:(?:pip|tool)\s+)?(?:install|add|run|download|wheel)|uvx)\b(?P<rest>[^`#;&|]*)"
)
VALUES = {"-c", "--constraint", "-r", "--requirement", "-t", "--target", "-d", "--dest", "-i", "--index-url", "-f"}
"""Options of pip behind which a value stands."""
OURS = re.compile(r"[^\w./-](?:trainyard|trainyard-gitops)\[|\btrainyard[=~<>]=")
"""Our package as a requirement: with an extra, or with a version."""
NAMED = re.compile(r"([A-Za-z0-9][\w.-]*)(?:\[[\w,]*\])?(?:[=<>~!]=?.*)?")
BY_ADDRESS = re.compile(r"[\w.-]+(?:\[[\w,]*\])? @ \S+")

WRONG = {
    "with an extra": "install it: pip install 'trainyard[synth]'",
    "plain": "    pip install trainyard",
    "with a version": "python -m pip install --quiet trainyard==0.1.0",
    "our own name, from whatever index": "pip install trainyard-gitops",
    "an unknown name": "uv pip install trainyards",
    "as a tool": "pipx install trainyard",
    "without installing": "uvx trainyard check",
    "in a Makefile": "TRAINYARD ?= trainyard[synth]==0.1.0",
}
RIGHT = {
    "a file": "pip install ./vendor/trainyard_gitops-0.1.0-py3-none-any.whl",
    "by an address": "pip install 'trainyard-gitops[synth] @ https://files.example.com/x.whl#sha256=ab'",
    "a checkout": ".venv/bin/python -m pip install --no-deps --no-build-isolation --editable '.[synth,live,dev]'",
    "others by a file": "pip install --requirement requirements.txt",
    "somebody else's": "pip install joblib==1.6.0",
}


def texts() -> dict[str, str]:
    """Every file of ours that Git tracks and that is no generated or recorded one, by its path."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    names = [part for part in listed.stdout.decode().split("\0") if part]
    left_out = ("generated/", "schemas/", "tests/data/", "tests/apiserver/data/", "tests/test_installs.py")
    files = {name: ROOT / name for name in names if not name.startswith(left_out)}
    return {
        name: path.read_bytes().decode("utf-8", "replace")
        for name, path in files.items()
        if path.is_file() and not path.is_symlink() and path.stat().st_size < 1 << 20
    }


@cache
def known() -> set[str]:
    """What our own project asks for: names that others have, and that we mean."""
    project = PROJECT["project"]
    asked = [*project["dependencies"], *(item for extra in project["optional-dependencies"].values() for item in extra)]
    pinned = (ROOT / "constraints.txt").read_text().splitlines()
    found = (NAMED.match(item) for item in (*asked, *pinned))
    return {match[1].lower() for match in found if match} - {NAME, "trainyard"}


def wrong(line: str) -> bool:
    """Say whether a line installs something by a name that is not meant."""
    line = BY_ADDRESS.sub("", line)
    if OURS.search(f" {line}"):
        return True
    for match in INSTALL.finditer(line):
        words = [part for part in re.split(r"[\s'\"]+", match["rest"]) if part]
        names = (
            NAMED.fullmatch(word) for before, word in zip(["", *words], words, strict=False) if before not in VALUES
        )
        if any(name[1].lower() not in known() for name in names if name and not name[0].endswith(".whl")):
            return True
    return False


@pytest.mark.parametrize("line", WRONG.values(), ids=WRONG)
def test_a_name_alone_is_seen(line):
    """Each way to ask an index for us is found."""
    assert wrong(line)


@pytest.mark.parametrize("line", RIGHT.values(), ids=RIGHT)
def test_what_is_right_passes(line):
    """Files, addresses and what our project asks for are no mistake."""
    assert not wrong(line)


def test_nothing_asks_an_index_for_us():
    """No page, message, workflow or file that `init` writes installs us by a name alone."""
    found = [
        f"{name}:{number}: {line.strip()}"
        for name, text in texts().items()
        if INSTALL.search(text) or OURS.search(text)
        for number, line in enumerate(text.splitlines(), 1)
        if wrong(line)
    ]
    assert not found


def test_the_name_is_said_once_for_all():
    """The build, the messages and the version agree, and the build's backend is the one that is pinned."""
    assert PROJECT["project"]["name"] == NAME
    assert PROJECT["tool"]["hatch"]["version"]["path"] == "platform/trainyard/__init__.py"
    assert re.fullmatch(r"\d+\.\d+\.\d+", __version__)
    pinned = (ROOT / "constraints.txt").read_text().split()
    assert set(PROJECT["build-system"]["requires"]) <= set(pinned)


def test_nobody_looks_the_version_up_by_a_name():
    """A checkout that is not installed has a version too, and the name of the distribution may change."""
    package = Path(ROOT / "platform" / "trainyard")
    users = [
        path for path in package.rglob("*.py") if re.search(r"\bversion\(\s*[\"']trainyard", path.read_text("utf-8"))
    ]
    assert not users
