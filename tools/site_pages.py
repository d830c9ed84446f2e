"""What the site has beside docs/: the README as its front page, the pages of the root, and the jobs that pages name."""

from __future__ import annotations

import os
import posixpath
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tools")]

from markdown_links import LINK, moved  # noqa: E402  # after the path is set

PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "CONTRIBUTING.md", "CHANGELOG.md": "CHANGELOG.md"}
"""Pages of the root, and where they are on the site."""

WIDE = ("rules.md", "storage.md")
"""Pages without a list of headings beside them: of hundreds of rules, or beside one wide table."""

EXAMPLES = "examples/"
"""Where on the site files of jobs/ are."""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put every decision into the menu, behind the page that lists them."""
    decisions = sorted(path.name for path in (ROOT / "docs" / "decisions").glob("*.md"))
    developers = next(entry["Developers"] for entry in config.nav or [] if "Developers" in entry)
    developers.append({"Decisions": [f"decisions/{name}" for name in decisions]})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what is not below docs/."""
    from mkdocs.structure.files import File

    pages = [ROOT / name for name in PAGES] + sorted((ROOT / "docs").rglob("*.md"))
    named = {target for page in pages for target in linked(page) if target.startswith("jobs/")}
    for name in sorted(named):
        files.append(File.generated(config, EXAMPLES + name, abs_src_path=str(ROOT / name)))
    for name, there in PAGES.items():
        files.append(File.generated(config, there, content=(ROOT / name).read_text("utf-8")))
    return files


def linked(page: Path) -> set[str]:
    """Return the files that a page links to, by their paths in the repository."""
    top = page.parent.relative_to(ROOT).as_posix()
    targets = (match[2].partition("#")[0] for match in LINK.finditer(page.read_text("utf-8")))
    paths = {posixpath.normpath(posixpath.join(top, target)) for target in targets if target and "://" not in target}
    return {path for path in paths if (ROOT / path).is_file()}


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Lead links to where things are on the site, and give pages what GitHub gives them."""
    source = next((name for name, there in PAGES.items() if there == page.file.src_uri), f"docs/{page.file.src_uri}")
    folder, here = posixpath.dirname(source), posixpath.dirname(page.file.src_uri)

    def lead(path: str) -> str | None:
        target = posixpath.normpath(posixpath.join(folder, path))
        known = site(target)
        if known is not None:
            return posixpath.relpath(known, here or ".")
        base = os.environ.get("TRAINYARD_SOURCE_URL", "").rstrip("/")
        return f"{base}/{target}" if base else None

    if page.file.src_uri in WIDE:
        page.meta["hide"] = ["toc"]
    return shown_page(moved(markdown, lead))


def shown_page(markdown: str) -> str:
    """Return a page without what only our tests read behind a block's language, and with Markdown within details."""
    return re.sub(r"^( *```\w+) .*$", r"\1", markdown, flags=re.MULTILINE).replace(
        "<details>", '<details markdown="1">'
    )


def site(target: str) -> str | None:
    """Return where a path of the repository is on the site; None where it is not there."""
    if target in PAGES:
        return PAGES[target]
    if target.startswith("jobs/") and (ROOT / target).is_file():
        return EXAMPLES + target
    if target.startswith("docs/") and (ROOT / target).is_file():
        return target.removeprefix("docs/")
    return None
