"""Files that somebody names are judged once: again only where they, or what judges them, are others."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from command import Done, call
from make import JOB, write_repository
from trainyard.judge.checks import validate

POLICY = '''"""Names are short.

Why: a test says so.
Fix: shorten it.
Source: the test.
"""

from collections.abc import Iterator

from trainyard.checks import Problem, World


def check(world: World) -> Iterator[Problem]:
    """Look at the name of every object."""
    for manifest in world.manifests:
        if len(manifest.name) > {letters}:
            yield Problem(manifest.label("name"), "this name is long")
'''
MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{word: {word}}}\n"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a repository with two plain objects beside its specs, and a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    root = tmp_path / "repo"
    write_repository(root, jobs={"nlp/one": JOB})
    (root / "policies").mkdir(exist_ok=True)
    (root / "deploy").mkdir()
    for name in ("first", "second"):
        (root / "deploy" / f"{name}.yaml").write_text(MAP.format(name=name, word="plain"))
    return root


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Count the files that are judged, call by call."""
    found: list[int] = []
    before = validate.alone

    def noted(files: list[tuple[str, bytes]], *rest: object, **named: object) -> object:
        found.append(len(files))
        return before(files, *rest, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(validate, "alone", noted)
    return found


def ask(root: Path, *options: str) -> Done:
    """Validate the plain objects."""
    cache = os.environ["XDG_CACHE_HOME"]
    return call(root, "validate", "deploy", "--format", "json", *options, XDG_CACHE_HOME=cache)


def test_unchanged_files_are_judged_once(root: Path, judged: list[int]) -> None:
    """A second command says the same without judging."""
    first, second = ask(root), ask(root)
    assert judged == [2]
    assert (first.returncode, first.stdout) == (second.returncode, second.stdout)


def break_a_field(root: Path) -> tuple[str, ...]:
    """Give an object a field that no server knows."""
    path = root / "deploy" / "first.yaml"
    path.write_text(path.read_text() + "wrong: 1\n")
    return ()


def forbid_names(root: Path) -> tuple[str, ...]:
    """Add a policy that both objects break."""
    (root / "policies" / "own_names.py").write_text(POLICY.format(letters=3))
    return ()


def add_an_object(root: Path) -> tuple[str, ...]:
    """Add a file that has the name of another object in its folder."""
    (root / "deploy" / "third.yaml").write_text(MAP.format(name="first", word="other"))
    return ()


def name_a_release(_: Path) -> tuple[str, ...]:
    """Ask about another release."""
    return ("--kubernetes", "1.34")


CHANGES = {
    "an object": break_a_field,
    "a policy": forbid_names,
    "a file": add_an_object,
    "the release": name_a_release,
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_is_judged_as_without_memory(
    root: Path, judged: list[int], monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], tuple[str, ...]]
) -> None:
    """What is said after a change is what a command says that remembers nothing, and is not what was said before."""
    before = ask(root)
    options = change(root)
    warm = ask(root, *options)
    monkeypatch.setenv("XDG_CACHE_HOME", str(root.parent / "empty"))
    cold = ask(root, *options)
    assert (warm.returncode, warm.stdout) == (cold.returncode, cold.stdout)
    assert warm.stdout != before.stdout
    assert len(judged) == 3


def test_findings_that_hide_a_credential_are_not_kept(root: Path, judged: list[int]) -> None:
    """An object with a password is judged each time, so that no entry of the cache has any of it."""
    secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: key}\nstringData: {password: Tr0ub4dor-and-3x}\n"
    (root / "deploy" / "first.yaml").write_text(secret)
    ask(root)
    ask(root)
    assert judged == [2, 2]
    kept = [path.read_bytes() for path in (root.parent / "cache").rglob("*") if path.is_file()]
    assert not any(b"Tr0ub4dor" in data for data in kept)
