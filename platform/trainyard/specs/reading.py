"""One file as one spec: its document, its model, and what is wrong with either."""

from __future__ import annotations

from typing import TypeVar

from pydantic import ValidationError

from trainyard.documents import load
from trainyard.findings import Finding, Severity
from trainyard.specs import problems
from trainyard.specs.base import Spec
from trainyard.specs.layout import problem
from trainyard.specs.run import Source

S = TypeVar("S", bound=Spec)


def document(path: str, data: bytes) -> tuple[Source | None, list[Finding]]:
    """Return the one document of a spec's file; None where nothing in it can be read."""
    documents, found = load(data, file=path)
    findings = [finding for finding in found if finding.severity is Severity.ERROR]
    if not documents:
        return None, findings or [problem("empty-file", path, "file is empty; write a spec into it or delete it")]
    if len(documents) > 1:
        message = f"file has {len(documents)} documents; write one spec a file"
        findings.append(Finding("spec/several-documents", "spec", message, documents[1].location()))
    return Source(path, documents[0]), findings


def validate(model: type[S], source: Source) -> tuple[S | None, list[Finding]]:
    """Return the spec that a document says, or what is wrong with its fields."""
    value = source.document.value if source.document else None
    try:
        return model.model_validate(value, by_alias=True, by_name=False), []
    except ValidationError as error:
        return None, list(problems.findings(error, model, source, value))
