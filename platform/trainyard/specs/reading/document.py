"""One file as one spec: its document, its model, and what is wrong with either."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from pydantic import ValidationError

from trainyard.base.documents import Document, load
from trainyard.base.documents.layered import Layered
from trainyard.base.documents.templates import name_template
from trainyard.base.findings import Finding, Path, Severity
from trainyard.base.limits import SPEC_DEPTH
from trainyard.base.system.unforeseen import UNFORESEEN, judge_safely
from trainyard.specs.models.base import Spec
from trainyard.specs.reading import numbers, problems, quotes
from trainyard.specs.reading.layout import problem
from trainyard.specs.reading.rules import RULES
from trainyard.specs.sources import Source

DEEP = f"values are nested deeper than {SPEC_DEPTH} levels; flatten the value"

S = TypeVar("S", bound=Spec)


def read(path: str, data: bytes) -> tuple[Source | None, list[Finding]]:
    """Return the one document of a spec's file; None where nothing in it can be read."""
    documents, found = load(data, file=path)
    errors = (finding for finding in found if finding.severity is Severity.ERROR)
    findings = [name_template(finding, data, then="write plain values") for finding in errors]
    if not documents:
        return None, findings or [problem("empty-file", path, "file is empty; write a spec into it or delete it")]
    if len(documents) > 1:
        message = f"file has {len(documents)} documents; write one spec per file"
        findings.append(RULES["several-documents"].of(documents[1].location(), message))
    return Source(path, documents[0]), findings


def salvage(
    model: type[S], source: Source, errors: list[Finding], instead: Mapping[str, Any]
) -> tuple[S | None, frozenset[str]]:
    """Return the spec without the fields that are wrong, so that what the others name can be checked all the same.

    `instead` has a value for each field that a spec needs and that may be missing or wrong. Returned besides: the
    fields of which the spec says nothing, or that.
    """
    value = source.document.value if source.document else None
    if not isinstance(value, dict):
        return None, frozenset()
    wrong = {field(finding.path or "") for finding in errors} | (instead.keys() - value.keys())
    rest = {**without_fields(value, wrong), **{name: given for name, given in instead.items() if name in wrong}}
    spec, _ = validate(model, Source(source.file, Document(source.file, 0, rest)))
    return spec, frozenset(wrong)


def without_fields(value: dict[str, Any], fields: set[str]) -> dict[str, Any]:
    """Return a map without some of its keys."""
    return {key: item for key, item in value.items() if key not in fields}


def field(path: str) -> str:
    """Return the first part of a path such as `checkpoint.size` or `files[0].source`."""
    return path.partition(".")[0].partition("[")[0]


def too_deep(value: Any) -> Path | None:
    """Return the field at the root of a spec below which values are nested too deep, None where none are."""
    for key, inner in value.items() if isinstance(value, dict) else ():
        level, depth = collections([inner]), 0
        while level:
            if depth == SPEC_DEPTH:
                return (key,)
            level = collections(
                part for outer in level for part in (outer.values() if isinstance(outer, dict) else outer)
            )
            depth += 1
    return None


def collections(values: Iterable[Any]) -> list[Any]:
    """Return those of the values that hold others."""
    return [value for value in values if isinstance(value, (dict, list, tuple))]


def validate(model: type[S], source: Source) -> tuple[S | None, list[Finding]]:
    """Return the spec that a document says, or what is wrong with its fields, or that it stops Trainyard itself."""
    return judge_safely(
        lambda: check_document(model, source),
        lambda why: (None, [UNFORESEEN.at(source, (), f"Trainyard cannot check this file: {why}")]),
    )


def odd_characters(source: Source) -> list[Finding]:
    """Return the findings about odd characters of a spec's own file; those of its bases are read by themselves."""
    own = source.document.layers[0] if isinstance(source.document, Layered) else source.document
    return [*numbers.check(own), *quotes.check(replace(source, document=own))] if own else []


def check_document(model: type[S], source: Source) -> tuple[S | None, list[Finding]]:
    """Return the spec that a document says, or what is wrong with its fields."""
    value = source.document.value if source.document else None
    if (path := too_deep(value)) is not None:
        return None, [RULES["depth"].at(source, path, DEEP)]
    odd = odd_characters(source)
    try:
        spec = model.model_validate(value, by_alias=True, by_name=False)
    except ValidationError as error:
        told = {finding.path for finding in odd}  # what else is wrong there comes of these characters
        wrong = problems.findings(error, model, source, value)
        return None, [*odd, *(finding for finding in wrong if not finding.path or finding.path not in told)]
    return (None if odd else spec), odd
