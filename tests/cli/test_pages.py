"""Reports link to the page on rules wherever somebody can know where that is."""

from __future__ import annotations

import pytest

from command import call
from conftest import ROOT
from trainyard.faces.cli import _pages
from trainyard.faces.cli._pages import pages

GITHUB = {
    "GITHUB_ACTIONS": "true",
    "GITHUB_SERVER_URL": "https://github.example.com",
    "GITHUB_REPOSITORY": "platform/trainyard",
    "GITHUB_SHA": "0123abc",
}
GITLAB = {
    "GITLAB_CI": "true",
    "CI_PROJECT_URL": "https://gitlab.example.com/platform/trainyard",
    "CI_COMMIT_SHA": "0123abc",
}
CASES = {
    "nobody says where": ({}, ""),
    "the environment says it": (
        {**GITHUB, "TRAINYARD_RULES_URL": "https://docs.example.com/r"},
        "https://docs.example.com/r",
    ),
    "in Actions": (GITHUB, "https://github.example.com/platform/trainyard/blob/0123abc/docs/rules.md"),
    "in GitLab": (GITLAB, "https://gitlab.example.com/platform/trainyard/-/blob/0123abc/docs/rules.md"),
}


@pytest.fixture
def clean(monkeypatch):
    """An environment that is none of CI's."""
    for name in ("TRAINYARD_RULES_URL", *GITHUB, *GITLAB):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


@pytest.mark.parametrize(("env", "address"), CASES.values(), ids=CASES)
def test_where_the_page_is(clean, env, address):
    """It is what is set, or the file at the commit that CI of this repository checks."""
    for name, value in env.items():
        clean.setenv(name, value)
    assert pages(ROOT) == address


def test_a_rule_says_where_its_section_is(clean):
    """What `trainyard rule` prints ends with the address of the same rule, with its examples."""
    done = call(ROOT, "rule", "spec/form", TRAINYARD_RULES_URL="https://docs.example.com/rules.html")
    assert done.stdout.endswith("\n  page: https://docs.example.com/rules.html#specform\n")


def test_a_repository_of_ones_own_has_no_such_page(clean, tmp_path):
    """CI of somebody else does not show our page at their address."""
    for name, value in GITHUB.items():
        clean.setenv(name, value)
    assert pages(tmp_path) == ""


def test_a_release_says_where_its_documentation_is(clean, tmp_path):
    """A distribution that was built with an address links there."""
    (folder := tmp_path / "a_b-1.dist-info").mkdir()
    text = "Metadata-Version: 2.1\nName: a-b\nVersion: 1\nProject-URL: Documentation, https://docs.example.com/\n"
    (folder / "METADATA").write_text(text)
    clean.syspath_prepend(str(tmp_path))
    assert _pages.released("a-b") == "https://docs.example.com/rules.html"
    assert _pages.released("trainyard-that-is-not-installed") == ""
