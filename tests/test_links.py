"""Every link within the documentation leads to a file, and to a heading, that is there."""

from __future__ import annotations

import subprocess

import pytest

from conftest import ROOT
from headings import anchors, links
from trainyard.base import catalogue
from trainyard.faces.report.view import anchor

PAGES = sorted(
    ROOT / name
    for name in subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    if (ROOT / name).is_file()
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page):
    """A relative link names a file of the repository and, behind '#', an anchor of it."""
    for link in links(page):
        if "://" in link or link.startswith("mailto:"):
            continue
        name, _, fragment = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.is_relative_to(ROOT.resolve()), link
        assert target.exists(), link
        if fragment and target.suffix == ".md":
            assert fragment in anchors(target), link


def test_no_heading_has_the_anchor_of_another():
    """On pages that are made, each field and each rule is reached by a name of its own."""
    made = [page for page in PAGES if "`make docs` writes th" in " ".join(page.read_text("utf-8").split())]
    assert len(made) > 7
    for page in made:
        assert not [name for name in anchors(page) if name.endswith("-1") and name[:-2] in anchors(page)], page


def test_every_rule_has_its_place():
    """What a report links to is a heading of the page on rules."""
    there = anchors(ROOT / "docs" / "rules.md")
    assert {anchor(rule) for rule in catalogue.entries(ROOT)} <= there
