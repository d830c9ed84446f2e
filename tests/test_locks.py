"""What is installed, here and in repositories that `init` begins, is what was tested, by hash."""

from __future__ import annotations

import re

import pytest

from conftest import ROOT
from tool import tool

LINE = re.compile(
    r"(?P<name>[a-z0-9-]+)==(?P<release>[^ ]+)(?: ; (?P<marker>[^\\]+?))?((?: --hash=sha256:[0-9a-f]{64})+)"
)
LOCKS = {
    "platform/trainyard/faces/drafts/skeleton/base/install/requirements.txt": ("synth",),
    "tools/locks/develop.txt": ("synth", "live", "dev"),
}
OTHERS = ("tools/locks/site.txt", "tools/locks/train.txt", "tools/locks/pipelines.txt")
INSTALLS = ("Makefile", ".ci/run", "platform/trainyard/faces/drafts/skeleton/base/Makefile")


def locked(file: str) -> dict[str, str]:
    """Return the releases of a lock, of which each line has hashes."""
    lines = (ROOT / file).read_text("utf-8").replace(" \\\n   ", "").splitlines()
    found = [LINE.fullmatch(line) for line in lines[1:]]
    assert lines[0].startswith("# ")
    assert all(found), [line for line, match in zip(lines[1:], found, strict=True) if match is None]
    return {match["name"]: match["release"] for match in found if match}


def pins() -> dict[str, str]:
    """Return what constraints.txt pins."""
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    pairs = (line.split("==") for line in lines)
    return {re.sub(r"[-_.]+", "-", name).lower(): release for name, release in pairs}


@pytest.mark.parametrize(("file", "extras"), LOCKS.items(), ids=LOCKS)
def test_a_lock_has_what_is_needed(file, extras):
    """It lists what our own project requires with its extras, at the pinned releases, and no more on Linux."""
    done = tool("closure.py", *(word for extra in extras for word in ("--extra", extra)))
    assert done.returncode == 0, done.stderr
    needed = dict(line.split("==") for line in done.stdout.splitlines())
    assert locked(file) == needed


@pytest.mark.parametrize("file", [*LOCKS, *OTHERS])
def test_releases_are_those_that_are_pinned(file):
    """No lock has another release than constraints.txt, but that of pipelines, which need older ones of some."""
    found = locked(file)
    if file != "tools/locks/pipelines.txt":
        assert found.items() <= pins().items()
    assert found


@pytest.mark.parametrize("file", INSTALLS)
def test_nothing_is_installed_without_hashes(file):
    """Each call of pip checks hashes, or installs this checkout alone."""
    text = (ROOT / file).read_text("utf-8")
    calls = [line for line in text.splitlines() if re.search(r"\$\(PIP\)|quietly\[@\]", line)]
    assert calls
    own = re.compile(r"--no-deps --no-build-isolation (?:--editable )?\.(?:$|[ ;}])")
    assert [line for line in calls if "--require-hashes" not in line and not own.search(line)] == []
