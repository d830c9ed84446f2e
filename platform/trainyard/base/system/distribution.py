"""Where this Trainyard was installed from, and so how an extra is added: from the same place, never by a name alone.

A name alone is looked up in an index, and what an index has by it may be somebody else's.
Source: PyPA specifications, Recording the Direct URL Origin of installed distributions (direct_url.json).
"""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from typing import Any
from urllib.parse import urlsplit

NAME = "trainyard-gitops"
"""The distribution; the package that is imported and the command are called `trainyard`."""


@dataclass(frozen=True, slots=True)
class Origin:
    """What was installed."""

    url: str
    """Of a wheel, a folder or a repository; of a wheel on this machine it begins with `file:`."""
    sha256: str | None = None
    """Of the wheel; None for what is none."""
    folder: bool = False
    """Whether it is a folder on this machine, such as a checkout."""
    editable: bool = False
    """Whether the folder is used as it is."""

    @property
    def path(self) -> str | None:
        """Return the path of what lies on this machine, None of what was downloaded."""
        from urllib.request import url2pathname  # which brings HTTP and TLS along, and no command needs its name

        parts = urlsplit(self.url)
        return url2pathname(parts.path) if parts.scheme == "file" else None

    def command(self, extra: str) -> str:
        """Return the command that installs the same again, with an extra."""
        if self.folder:
            option = "--editable " if self.editable else ""
            return f"pip install {option}{shlex.quote(f'{self.path}[{extra}]')}"
        return f"pip install {shlex.quote(f'{NAME}[{extra}] @ {self.url}')}"


def origin() -> Origin | None:
    """Return the origin of the installation, or None where it is not recorded: from an index, or not installed."""
    try:
        written = distribution(NAME).read_text("direct_url.json")
        recorded: dict[str, Any] = json.loads(written or "{}")
    except (PackageNotFoundError, ValueError, RecursionError):
        return None
    url = recorded.get("url")
    if not isinstance(url, str):
        return None
    if (version := recorded.get("vcs_info")) is not None:
        return Origin(f"{version['vcs']}+{url}@{version['commit_id']}")
    if (folder := recorded.get("dir_info")) is not None:
        return Origin(url, folder=True, editable=bool(folder.get("editable")))
    return Origin(url, sha256=(recorded.get("archive_info") or {}).get("hashes", {}).get("sha256"))


def remedy(extra: str) -> str:
    """Return the advice for a missing extra."""
    where = origin()
    if where is None:
        return f"install the wheel of Trainyard again, with its extra {extra!r}"
    return f"install the extra: {where.command(extra)}"
