"""From a generated file back to the spec line that a person should edit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path as Path_
from typing import Protocol

from trainyard.base.documents import Document, load
from trainyard.base.findings import Finding, Location, Path
from trainyard.base.manifests import identity_of
from trainyard.base.system import files
from trainyard.base.system.repository import EXTRA, GENERATED, SETTINGS
from trainyard.render.tree import index, layout
from trainyard.specs.sources import Source, Specs

POLICIES = "policies"
"""The folder of policies, of which those in CEL are rendered as they are written."""

POLICY = "ValidatingAdmissionPolicy"
"""How the kinds of a policy and of its binding begin."""


class SpecLine(Protocol):
    """Finds the place in the specs of a generated file, or of a field of the object in it."""

    def __call__(self, path: str, field: Path = ()) -> Location | None:
        """Return the place of a file, named by its path in the repository; None of one that no index lists."""


Contents = Callable[[str], bytes | None]
"""The content of a file by its path below `generated/`."""


def at_field(root: Path_, finding: Finding) -> Finding:
    """Return a finding about a field of a spec file at the field's line, where only the file was known."""
    data = files.read(root / finding.location.file) if finding.location.file.endswith(".yaml") else None
    documents = load(data, file=finding.location.file)[0] if data and finding.path else []
    return replace(finding, location=documents[0].location((finding.path or "",))) if documents else finding


def entries(root: Path_, contents: Contents | None = None) -> Callable[[str], index.Entry | None]:
    """Return a function from a generated file, named by its path in the repository, to its entry in an index.

    `contents` reads the indexes of a tree that is not on disk.
    """
    read = contents or (lambda path: files.read(root / GENERATED / path))

    @cache
    def listed(cluster: str, folder: str) -> Mapping[str, index.Entry]:
        data = read(f"{cluster}/{layout.index_file(folder)}")
        return (index.load(data, folder) if data else None) or {}

    def entry(path: str) -> index.Entry | None:
        cluster, _, rest = path.removeprefix(f"{GENERATED}/").partition("/")
        folder, _, name = rest.rpartition("/")
        return listed(cluster, folder).get(name) if folder else None

    return entry


def spec_lines(root: Path_, contents: Contents | None = None) -> SpecLine:
    """Return a function from a generated file, named by its path in the repository, to its place in the specs.

    The place is that of the field, or of its nearest ancestor that is still there. An object that stands in a file of
    one's own as it is rendered has its fields there. A file that no index lists has no place.
    """
    entry_of = entries(root, contents)

    @cache
    def documents(file: str) -> Sequence[Document]:
        data = files.read(root / file) if file.endswith(".yaml") else None
        return load(data, file=file)[0] if data else []

    def spec_line(path: str, field: Path = ()) -> Location | None:
        entry = entry_of(path)
        if entry is None:
            return None
        if (own := as_written(entry, documents)) is not None:
            return own.location(field if identity_of(own.value).kind == entry.kind else ())
        found = documents(entry.spec)
        return found[0].location(entry.field) if found else Location(entry.spec)

    return spec_line


def as_written(entry: index.Entry, documents: Callable[[str], Sequence[Document]]) -> Document | None:
    """Return the document in which an object of one's own is written, None for what is rendered from fields."""
    if entry.spec.startswith(f"{EXTRA}/"):
        same = (one for one in documents(entry.spec) if is_object(one.value, entry))
        return next(same, None)
    if entry.spec == SETTINGS and entry.kind.startswith(POLICY):
        return next(iter(documents(f"{POLICIES}/{entry.name}.yaml")), None)
    return None


def is_object(value: object, entry: index.Entry) -> bool:
    """Say whether a value is the object of an entry; a team's objects get their namespace from the folder."""
    if not isinstance(value, Mapping):
        return False
    found = identity_of(value)
    return (found.kind, found.name) == (entry.kind, entry.name) and found.namespace in ("", entry.namespace or "")


def locator(specs: Specs) -> Callable[[index.Entry], Location]:
    """Return a function from an entry of an index to its place in the specs, as exactly as the spec still allows."""
    sources: dict[str, Source] = {source.file: source for source in specs.sources.values()}
    sources |= {job.source.file: job.source for job in specs.jobs}
    sources |= {extra.source.file: extra.source for extra in specs.extra}

    def locate(entry: index.Entry) -> Location:
        source = sources.get(entry.spec)
        return source.location(entry.field) if source else Location(entry.spec)

    return locate
