"""What the site is made of: every page is in its menu, and links are led to where things are there."""

from __future__ import annotations

import re
import sys

import pytest
import yaml

from conftest import ROOT

sys.path.append(str(ROOT / "tools"))

from markdown_links import moved  # after the path is set

FROM_THE_ROOT = {"index.md", "CONTRIBUTING.md", "CHANGELOG.md"}


def entries(nav):
    """The pages of a menu, of whatever depth."""
    for entry in nav if isinstance(nav, list) else nav.values():
        yield from [entry] if isinstance(entry, str) else entries(entry)


def test_every_page_is_in_the_menu_once():
    """A page that the menu lacks is found by nobody; decisions are put there by what builds the site."""
    text = re.sub(r"!(ENV|!python)\S*", "", (ROOT / "mkdocs.yml").read_text("utf-8"))
    nav = sorted(entries(yaml.safe_load(text)["nav"]))
    docs = ROOT / "docs"
    pages = {path.relative_to(docs).as_posix() for path in docs.rglob("*.md")}
    assert nav == sorted(FROM_THE_ROOT | {page for page in pages if not page.startswith("decisions/")})


LINKS = {
    "a page": ("[a](docs/jobs.md)", "[a](there/docs/jobs.md)"),
    "an anchor of it": ("[a](docs/jobs.md#roles)", "[a](there/docs/jobs.md#roles)"),
    "an anchor of the page itself": ("[a](#roles)", "[a](#roles)"),
    "the web": ("[a](https://example.com/docs/x.md)", "[a](https://example.com/docs/x.md)"),
    "what is nowhere": ("see [the `code`](gone/x.py), please", "see the `code`, please"),
    "code": ("```sh\n[a](docs/x.md)\n```\n[a](docs/x.md)", "```sh\n[a](docs/x.md)\n```\n[a](there/docs/x.md)"),
}


@pytest.mark.parametrize(("before", "after"), LINKS.values(), ids=LINKS)
def test_links_are_moved(before, after):
    """Only links to files are led elsewhere; one that leads nowhere becomes its words."""
    assert moved(before, lambda path: None if path.startswith("gone/") else f"there/{path}") == after
