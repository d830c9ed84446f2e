"""What the site is made of: every page is in its menu, and links are led to where things are there."""

from __future__ import annotations

import re
import sys
from itertools import pairwise

import pytest
import yaml

from conftest import ROOT

sys.path.append(str(ROOT / "tools"))

from hatch_readme import SITE, Readme  # after the path is set
from markdown_links import FENCE, LINK, moved  # after the path is set

FROM_THE_ROOT = {"index.md", "CONTRIBUTING.md", "CHANGELOG.md"}


def entries(nav):
    """The pages of a menu, of whatever depth."""
    for entry in nav if isinstance(nav, list) else nav.values():
        yield from [entry] if isinstance(entry, str) else entries(entry)


def test_every_page_is_in_the_menu_once():
    """A page that the menu lacks is found by nobody; decisions are put there by what builds the site."""
    text = re.sub(r"!(ENV|!python)\S*", "", (ROOT / "tools" / "mkdocs.yml").read_text("utf-8"))
    nav = sorted(entries(yaml.safe_load(text)["nav"]))
    docs = ROOT / "docs"
    pages = {path.relative_to(docs).as_posix() for path in docs.rglob("*.md")}
    assert nav == sorted(FROM_THE_ROOT | {page for page in pages if not page.startswith("decisions/")})


PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")])
SHALLOW = re.compile(r"^ {2,3}(?:[-*] |[0-9]+\. |```)")
ITEM = re.compile(r"^(?:[-*]|[0-9]+\.) ")
TABLE = re.compile(r"^\|")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_lists_are_lists_on_the_site_too(page):
    """Python-Markdown wants four spaces below an item, and a blank line before a list and a table; GitHub does not."""
    lines = ["", *FENCE.sub(lambda code: code[0].splitlines()[0], page.read_text("utf-8")).splitlines()]
    for before, line in pairwise(lines):
        assert not SHALLOW.match(line), line
        for begins in (ITEM, TABLE):
            assert not begins.match(line) or not before or begins.match(before) or before.startswith("  "), line


LINKS = {
    "a page": ("[a](docs/jobs.md)", "[a](there/docs/jobs.md)"),
    "an anchor of it": ("[a](docs/jobs.md#roles)", "[a](there/docs/jobs.md#roles)"),
    "an anchor of the page itself": ("[a](#roles)", "[a](#roles)"),
    "a picture": ("![a](docs/a.svg)", "![a](there/docs/a.svg)"),
    "a picture that is nowhere": ("![of a](gone/a.svg).", "of a."),
    "the web": ("[a](https://example.com/docs/x.md)", "[a](https://example.com/docs/x.md)"),
    "what is nowhere": ("see [the `code`](gone/x.py), please", "see the `code`, please"),
    "code": ("```sh\n[a](docs/x.md)\n```\n[a](docs/x.md)", "```sh\n[a](docs/x.md)\n```\n[a](there/docs/x.md)"),
}


@pytest.mark.parametrize(("before", "after"), LINKS.values(), ids=LINKS)
def test_links_are_moved(before, after):
    """Only links to files are led elsewhere; one that leads nowhere becomes its words."""
    assert moved(before, lambda path: None if path.startswith("gone/") else f"there/{path}") == after


def described(site, monkeypatch):
    """The metadata of a distribution that is built with the documentation published somewhere, or nowhere."""
    monkeypatch.setenv(SITE, site)
    metadata = {}
    Readme(str(ROOT), {}).update(metadata)
    return metadata


def test_no_link_of_the_readme_is_dead_on_an_index(monkeypatch):
    """A package index shows the README alone: its links lead to the published pages, or are words."""
    metadata = described("https://docs.example.com/", monkeypatch)
    leads = [target for _, target in LINK.findall(metadata["readme"]["text"])]
    assert "https://docs.example.com/jobs.html#accepting-a-finding" in leads
    assert not [target for target in leads if not target.startswith("https://docs.example.com/")]
    assert metadata["urls"] == {"Documentation": "https://docs.example.com"}


def test_a_release_without_a_site_names_none(monkeypatch):
    """Nobody is sent to an address that is not there."""
    metadata = described("", monkeypatch)
    assert not LINK.findall(metadata["readme"]["text"])
    assert "urls" not in metadata
