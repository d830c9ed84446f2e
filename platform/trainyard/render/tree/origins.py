"""From a generated file back to the spec line that a person should edit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

from trainyard.base.documents import Document, load
from trainyard.base.findings import Finding, Location
from trainyard.base.system import files
from trainyard.base.system.repository import GENERATED
from trainyard.render.tree import index, layout
from trainyard.specs.sources import Source, Specs

SpecLine = Callable[[str], Location | None]
Contents = Callable[[str], bytes | None]
"""The content of a file by its path below `generated/`."""


def at_field(root: Path, finding: Finding) -> Finding:
    """Return a finding about a field of a spec file at the field's line, where only the file was known."""
    data = files.read(root / finding.location.file) if finding.location.file.endswith(".yaml") else None
    documents = load(data, file=finding.location.file)[0] if data and finding.path else []
    return replace(finding, location=documents[0].location((finding.path or "",))) if documents else finding


def spec_lines(root: Path, contents: Contents | None = None) -> SpecLine:
    """Return a function from a generated file, named by its path in the repository, to its line in the specs.

    The line is that of the field, or of its nearest ancestor that is still there. A file that no index lists has none.
    `contents` reads the indexes of a tree that is not on disk.
    """
    read = contents or (lambda path: files.read(root / GENERATED / path))

    @cache
    def entries(cluster: str, folder: str) -> Mapping[str, index.Entry]:
        data = read(f"{cluster}/{layout.index_file(folder)}")
        return (index.load(data, folder) if data else None) or {}

    @cache
    def document(file: str) -> Document | None:
        data = files.read(root / file) if file.endswith(".yaml") else None
        documents = load(data, file=file)[0] if data else []
        return documents[0] if documents else None

    def spec_line(path: str) -> Location | None:
        cluster, _, rest = path.removeprefix(f"{GENERATED}/").partition("/")
        folder, _, name = rest.rpartition("/")
        entry = entries(cluster, folder).get(name) if folder else None
        if entry is None:
            return None
        found = document(entry.spec)
        return found.location(entry.field) if found else Location(entry.spec)

    return spec_line


def locator(specs: Specs) -> Callable[[index.Entry], Location]:
    """Return a function from an entry of an index to its place in the specs, as exactly as the spec still allows."""
    sources: dict[str, Source] = {source.file: source for source in specs.sources.values()}
    sources |= {job.source.file: job.source for job in specs.jobs}
    sources |= {extra.source.file: extra.source for extra in specs.extra}

    def locate(entry: index.Entry) -> Location:
        source = sources.get(entry.spec)
        return source.location(entry.field) if source else Location(entry.spec)

    return locate
