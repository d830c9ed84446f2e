"""The README as a package index shows it: its links lead to the published documentation, or are words.

`TRAINYARD_SITE_URL` says where that is, while a release is built; reports then link their rules there, too.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

sys.path.append(str(Path(__file__).resolve().parent))

from markdown_links import moved  # after the path is set

SITE = "TRAINYARD_SITE_URL"


class Readme(MetadataHookInterface):
    """Sets the long description, and the address of the documentation where there is one."""

    PLUGIN_NAME = "readme"

    def update(self, metadata: dict[str, Any]) -> None:
        """Write both into the metadata of the distribution."""
        site = os.environ.get(SITE, "").rstrip("/")
        text = (Path(self.root) / "README.md").read_text("utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": moved(text, lambda path: published(path, site))}
        if site:
            metadata["urls"] = {"Documentation": site}


def published(path: str, site: str) -> str | None:
    """Return where a page of the repository is published; None where nothing is, or not this.

    >>> published("docs/reference/job.md", "https://docs.example.com")
    'https://docs.example.com/reference/job.html'
    >>> published("docs/jobs.md", "") is None
    True
    """
    name = path.removeprefix("docs/")
    if not site or not name.endswith(".md"):
        return None
    name = "index.md" if name == "README.md" else name
    return f"{site}/{name.removesuffix('.md').replace('/README', '/index')}.html"
