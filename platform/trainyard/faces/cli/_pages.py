"""Where the page on rules is, so that reports can link to it."""

from __future__ import annotations

import os
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

from trainyard.base.system.distribution import NAME

PAGES = "TRAINYARD_RULES_URL"
"""Where docs/rules.md is published, for whoever publishes it elsewhere."""

PAGE = "docs/rules.md"


def pages(root: Path) -> str:
    """Return the address of the page on rules; empty where nobody knows one, and `trainyard rule` is the page.

    It is what the environment says, what the release says of its documentation, or, in CI of Trainyard's own
    repository, the file at the commit that is checked.
    """
    return os.environ.get(PAGES) or released() or checked_out(root)


def released(name: str = NAME) -> str:
    """Return the page of the documentation that the installed release was built with."""
    try:
        urls = metadata(name).get_all("Project-URL") or []
    except PackageNotFoundError:
        return ""
    said = dict(url.partition(", ")[::2] for url in urls)
    return f"{said['Documentation'].rstrip('/')}/rules.html" if "Documentation" in said else ""


def checked_out(root: Path) -> str:
    """Return the page as GitHub and GitLab show it in a checkout of this repository, by their variables.

    Source: GitHub Docs, default environment variables; GitLab Docs, predefined CI/CD variables.
    """
    ours = (root / "platform/trainyard/base/rules.py").is_file()
    return f"{at}/{PAGE}" if ours and (at := files_at()) else ""


def files_at() -> str:
    """Return the address of the files of the commit that CI checks; empty elsewhere.

    GitHub and GitLab lead from it to folders as well.
    """
    said = os.environ.get
    if said("GITHUB_ACTIONS") == "true":
        return f"{said('GITHUB_SERVER_URL')}/{said('GITHUB_REPOSITORY')}/blob/{said('GITHUB_SHA')}"
    if said("GITLAB_CI") == "true":
        return f"{said('CI_PROJECT_URL')}/-/blob/{said('CI_COMMIT_SHA')}"
    return ""
