"""Parts the objects of a stranger's file from what is none: no server would be given a values file or a patch."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from trainyard.base.documents import Document, load
from trainyard.base.documents.decode import finding_of
from trainyard.base.documents.pieces import Piece
from trainyard.base.documents.templates import name_template
from trainyard.base.findings import Finding
from trainyard.base.manifests import Manifest, expand
from trainyard.base.system.files import PIPED
from trainyard.judge.checks import templates
from trainyard.judge.checks.foreign import KUSTOMIZATIONS, PATCHES
from trainyard.judge.checks.programs import is_read_by_program
from trainyard.judge.checks.result import Other
from trainyard.upstream.kueue.scope import GROUP as KUEUE

NO_OBJECT, SETTINGS = "file without a Kubernetes object", "file of a program's settings"

NAMED = {
    "GitHub workflow": re.compile(r"(?:^|/)\.github/workflows/[^/]+$"),
    "GitLab pipeline": re.compile(r"(?:^|/)[^/]*\.gitlab-ci\.ya?ml$"),
    "Compose file": re.compile(r"(?:^|/)(?:docker-)?compose[^/]*\.ya?ml$"),
    "values of a Helm chart": re.compile(r"(?:^|/)[^/]*values[^/]*\.(?:ya?ml|json)$"),
}
"""Words for files without an object, by their names, of which each is what its program looks for."""

SEEN = re.compile(rb"(?i)(?:api_?version|kind|metadata)[\"']?\s*:|\?[ \t]|\\u00|^\xff\xfe|^\xfe\xff")
"""What the text of any object has, however it is written; text that lacks it is not even decoded."""

LETTERS = (b"version", b"kind", b"metadata", b"?", b"\\u00", b"\xff\xfe", b"\xfe\xff")
"""What any such text holds in small letters, which is found a hundred times as fast."""

DIRECTIVE = re.compile(rb"\$(?:patch|retainKeys|setElementOrder|deleteFromPrimitiveList)")
"""Keys that only a strategic merge patch has (apimachinery v0.35.4 pkg/util/strategicpatch/patch.go)."""

KUSTOMIZE = "kustomize.config.k8s.io"

HELM = (frozenset({"entries"}), frozenset({"name", "version"}))
"""What the index of a repository of charts, and a chart's own file, have beside apiVersion (helm v3.19 pkg/repo).

Where apiVersion is a number, a program's file has it, as Grafana's provisioning does.
"""
RENDER, BY_HELM = "render it and check the output", "helm template FOLDER | trainyard validate -"
"""What to do about a template."""


class Sorted(NamedTuple):
    """The objects of a file, what is wrong with it, how many documents it counts, and what was left out."""

    manifests: list[Manifest]
    findings: list[Finding]
    documents: int
    passed: Counter[str]
    settings: tuple[Manifest, ...] = ()
    """Settings of Kueue, which no server is given and which say what it does with the objects."""

    def other_files(self, name: str) -> list[Other]:
        """Return the file once for each word that it was taken for."""
        return [Other(name, what) for what in self.passed]


def no_object(name: str) -> Sorted:
    """Return a file without an object, by the name that says most of it."""
    what = next((word for word, pattern in NAMED.items() if pattern.search(name)), NO_OBJECT)
    return Sorted([], [], 0, Counter({what: 1}))


def decode(name: str, data: bytes, line: int = 1) -> Sorted:
    """Decode a piece of a stranger's file, and leave out what is no object; what is piped in is meant to be judged."""
    whole = name != PIPED and line == 1
    if whole and not is_seen(data):
        return no_object(name)
    documents, findings = load(data, file=name, first_line=line)
    if whole and not any(is_like_object(document.value) for document in documents) and not any_error(findings):
        return no_object(name)
    if not documents and not any_error(findings):
        return Sorted([], [], 0, Counter())
    numbers = (*(document.index for document in documents), *(finding.location.document for finding in findings))
    manifests, odd = expand(document for document in documents if not is_patch(document))
    passed = Counter[str]({PATCHES: sum(map(is_patch, documents))})
    for manifest in manifests:
        if (what := document_type(manifest)) is not None:
            passed[what] += 1
    kept = [manifest for manifest in manifests if document_type(manifest) is None]
    findings = [said_of_templates(finding, data) for finding in findings]
    count = 1 + max((number for number in numbers if number is not None), default=-1)
    settings = tuple(manifest for manifest in manifests if manifest.group == KUEUE)
    return Sorted(kept, [*findings, *odd], count, +passed, settings)


def of_piece(name: str, piece: Piece) -> Sorted:
    """Decode a piece of a stream; an item of a List that is no object counts as a document."""
    if piece.problem is None:
        return decode(name, piece.data, piece.line)
    return Sorted([], [finding_of(piece.problem, name, 0)], 1, Counter())


def is_seen(data: bytes) -> bool:
    """Say whether a text may hold an object."""
    small = data.lower()
    return any(letter in small for letter in LETTERS) and SEEN.search(data) is not None


def any_error(findings: Iterable[Finding]) -> bool:
    """Whether a file cannot be read: what it holds is not known then."""
    return any(finding.is_error for finding in findings)


def is_like_object(value: Any) -> bool:
    """Whether somebody meant an object: by its type, however the keys are spelt, or by a name in its metadata.

    A list is meant where what is in it says both apiVersion and kind: no server takes it, and no program has such.
    """
    if isinstance(value, list):
        return any(isinstance(element, dict) and {"apiVersion", "kind"} <= element.keys() for element in value)
    if not isinstance(value, dict):
        return False
    keys = {key.lower() for key in value if isinstance(key, str)}
    of_helm = any(keys >= fields for fields in HELM)
    if not keys & {"kind", "metadata", "spec"} and (of_helm or type(value.get("apiVersion")) is int):
        return False
    metadata = value.get("metadata")
    return bool(keys & {"apiversion", "kind"}) or (isinstance(metadata, dict) and "name" in metadata)


def document_type(manifest: Manifest) -> str | None:
    """Return the word for a typed document that no server is given, None for an object."""
    if manifest.group == KUSTOMIZE:
        return KUSTOMIZATIONS
    if is_read_by_program(manifest.group, manifest.kind):
        return SETTINGS
    return None


def is_patch(document: Document) -> bool:
    """Say whether a document is a strategic merge patch, or operations of a JSON patch."""
    value = document.value
    if isinstance(value, list):
        return bool(value) and all(
            isinstance(operation, dict) and {"op", "path"} <= operation.keys() for operation in value
        )
    return document.text is not None and DIRECTIVE.search(document.text) is not None and has_directive(value)


def has_directive(value: Any) -> bool:
    """Whether a key of a strategic merge patch stands anywhere in a value."""
    if isinstance(value, list):
        return any(map(has_directive, value))
    if not isinstance(value, dict):
        return False
    return any(isinstance(key, str) and DIRECTIVE.match(key.encode()) for key in value) or any(
        map(has_directive, value.values())
    )


def said_of_templates(finding: Finding, data: bytes) -> Finding:
    """Return the finding on a file that is no YAML yet because it is a template, with the command that renders it."""
    if finding.rule not in templates.BROKEN or not templates.breaks(data, finding.location.line):
        return finding
    return name_template(finding, data, then=RENDER, fix=BY_HELM)
