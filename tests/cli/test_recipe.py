"""The command that the documentation shows is one module: it is listed, explained and run."""

from __future__ import annotations

import pytest

import recipes
from command import call
from conftest import ROOT
from trainyard.faces import cli

(CODE,) = recipes.code("A command")


@pytest.fixture(autouse=True)
def command(tmp_path, monkeypatch):
    """Put the module of the page beside the others."""
    with recipes.fresh():
        recipes.put(tmp_path, cli, "jobs.py", CODE, monkeypatch)
        yield


def test_the_command_of_the_page_is_listed_and_explained():
    """Nothing but its module says its name, its help and its examples."""
    assert "jobs" in cli.commands()
    assert "List the jobs of a team." in call(ROOT).stdout
    text = call(ROOT, "jobs", "--help").stdout
    assert "trainyard jobs nlp" in text
    assert "Exit codes: 0 clean" in text


def test_the_command_of_the_page_runs():
    """It lists the jobs of this repository."""
    done = call(ROOT, "jobs", "nlp")
    assert done.returncode == 0, done.stderr
    assert "llama3-8b" in done.stdout.split()
