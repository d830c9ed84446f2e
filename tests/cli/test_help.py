"""Help: whole sentences, examples that parse, choices and exit codes, for every command."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest
from typer.main import get_command

from command import call as trainyard
from conftest import ROOT
from trainyard.faces.cli import build, commands
from trainyard.faces.cli._help import CODES, examples_of


def leaves(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    """Yield every command with its words."""
    inner = getattr(command, "commands", None)
    if inner is None:
        yield name.removeprefix("trainyard "), command
    for key, value in (inner or {}).items():
        yield from leaves(f"{name} {key}", value)


LEAVES = dict(leaves("trainyard", get_command(build(commands()))))


def examples(name: str) -> tuple[str, ...]:
    """Return the examples of a command."""
    module, _, words = name.partition(" ")
    return examples_of(import_module(f"trainyard.faces.cli.{module}"), words)


@pytest.mark.parametrize("name", LEAVES)
def test_every_command_says_how_it_is_used(name: str) -> None:
    """Each has a sentence, an example and the exit codes."""
    text = trainyard(ROOT, *name.split(), "--help").stdout
    assert examples(name), f"the module of {name!r} has no EXAMPLES of it"
    for example in examples(name):
        assert example in text
    assert CODES in text
    assert "..." not in re.sub(r"\.\.\.\]?(\.\.\.)?", "", text.split("Options:")[0].partition("\n")[2])


@pytest.mark.parametrize(("name", "example"), [(name, line) for name in LEAVES for line in examples(name)])
def test_examples_parse(name: str, example: str) -> None:
    """Options of an example exist, and no argument is missing."""
    part = re.search(r"trainyard [^|>)\"]*", example)
    assert part is not None
    words = shlex.split(part[0])[1:]
    assert words[: len(name.split())] == name.split()
    with LEAVES[name].make_context(name, words[len(name.split()) :]):  # left again, or what its options set stays
        pass


def test_the_program_alone_prints_its_help() -> None:
    """Without a command it says on standard output what there is, in whole sentences; so do groups."""
    done = trainyard(ROOT)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Usage: trainyard")
    assert "..." not in done.stdout.partition("Commands:")[2]
    assert trainyard(ROOT, "new").stdout.startswith("Usage: trainyard new")


def test_a_repository_is_found_upwards() -> None:
    """A command in a subfolder works on the repository above."""
    assert "JobSet nlp/llama3-8b" in trainyard(ROOT / "jobs/nlp", "explain", "nlp/llama3-8b").stdout


@pytest.mark.parametrize("name", [name for name, leaf in LEAVES.items() if any(o.name == "root" for o in leaf.params)])
def test_every_command_looks_for_its_repository_upwards(name: str) -> None:
    """None of them has an option of its own for the folder."""
    (root,) = (param for param in LEAVES[name].params if param.name == "root")
    assert root.opts == ["--root"]
    assert root.help == "Folder of the repository; default: this folder or one above it."
    assert root.callback is not None
