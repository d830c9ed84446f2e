"""A live repository with one job, for tests of what a change on a branch does to its tree."""

from __future__ import annotations

from pathlib import Path

import pytest

from repo import Repo
from small_site import Site


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """Make a live repository whose tree is written and committed on main, with one job, and go to a branch."""
    site = Site(Repo(tmp_path_factory.mktemp("first") / "repo"))
    site.job("nlp/llm")
    site.commit()
    site.repo.git("switch", "-qc", "work")
    return site


@pytest.fixture
def site(first: Site, tmp_path: Path) -> Site:
    """Return a copy of it."""
    return first.copied(tmp_path / "repo")
