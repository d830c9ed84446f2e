"""Errors of the models as findings: in the file's own words, at the line, with the near miss."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from trainyard.base.documents import Path, format_path
from trainyard.base.findings import Finding, count_of, did_you_mean
from trainyard.base.limits import FINDINGS
from trainyard.specs.models.job import Job
from trainyard.specs.reading.elsewhere import IN_JOBS
from trainyard.specs.reading.rules import RULES, VALUE
from trainyard.specs.sources import Source

LONGEST = 40
"""Characters of a value that a message quotes."""

LONGEST_KEY = 80
"""Characters of a key that a message quotes: those of Kubernetes begin with a domain."""

WANTED = {
    "string_type": "text",
    "string_sub_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "bool_type": "true or false",
    "dict_type": "a map of names and values",
    "model_type": "a map of fields",
    "model_attributes_type": "a map of fields",
    "typed_dict_type": "a map of fields",
    "tuple_type": "a list",
    "list_type": "a list",
}
"""What a field should be, by pydantic's error type."""


def findings(error: ValidationError, model: type[BaseModel], source: Source, value: Any) -> Iterator[Finding]:
    """Yield a finding for every error in a spec; `value` is what the file says, for the path and the quote."""
    errors = error.errors(include_url=False)
    for details in errors[:FINDINGS]:
        rule, path, message = explain(details, model, value)
        key = details["type"] == "extra_forbidden" or details["loc"][-1:] == ("[key]",)
        part = details.get("ctx", {}).get("part")
        where = source.within(path, part) if part else source.location(path, key=key)
        found = RULES.get(rule, VALUE).of(where, message)
        yield replace(found, path=format_path(path) or None, hide=path[:1] == ("secrets",))
    if (more := len(errors) - FINDINGS) > 0:
        yield RULES["too-many"].of(source.location(), f"{count_of(more, 'more field')} of this file are wrong too")


def explain(details: ErrorDetails, model: type[BaseModel], value: Any) -> tuple[str, Path, str]:
    """Return the rule, the path in the file and the sentence for one error."""
    path = path_in(value, details["loc"], missing=details["type"] == "missing")
    name = format_path(path) or noun(model)
    kind, context = details["type"], details.get("ctx", {})
    if kind == "extra_forbidden":
        return "unknown-field", path, unknown_field(path, details["loc"], model)
    if kind == "missing":
        return "missing-field", path[:-1], f"{name} is missing; add it"
    if details["loc"][-1:] == ("[key]",):
        name = f"key {str(path[-1])[:LONGEST_KEY]!r} in {format_path(path[:-1]) or noun(model)}"
        return key_rule(kind), path, f"{name} {wanted_key(details, context)}"
    if kind in WANTED:
        return (
            "type",
            path,
            f"{name} is {show_value(details['input'])}, but must be {wanted_type(kind, details['input'])}",
        )
    if kind == "literal_error":
        return "choice", path, f"{name} is {show_value(details['input'])}; {choice(details['input'], context)}"
    if kind in {"greater_than_equal", "greater_than", "less_than_equal", "less_than"}:
        return "range", path, f"{name} is {show_value(details['input'])}, but {wanted_text(kind, context)}"
    if kind in {"string_too_short", "too_short"}:
        return "empty", path, f"{name} is empty; write at least one {'character' if kind[0] == 's' else 'entry'}"
    if kind == "too_long":
        count = context.get("actual_length") or "too many"
        return "too-many", path, f"{name} has {count} entries; at most {context.get('max_length')} go here"
    if path[:1] == ("secrets",):
        return kind, path, f"{name} {context.get('message')}"
    if context.get("part"):
        return kind, path, f"{name} {context['message']}"
    if kind in {"form", "path", "quantity", "type", "unit"}:
        return kind, path, f"{name} is {show_value(details['input'])}, but {context.get('message')}"
    return kind.replace("_", "-"), path, f"{name} {context.get('message', 'is not valid')}"


def path_in(value: Any, location: Iterable[int | str], *, missing: bool) -> Path:
    """Return the part of an error's location that the file has: tags of unions and `[key]` are pydantic's own.

    Without a value, where a program made the model, all of it.
    """
    parts = list(location)
    if value is None:
        return tuple(part for part in parts if part != "[key]")
    last = parts.pop() if missing and parts else None
    path: list[str | int] = []
    for part in parts:
        if has(value, part):
            value = value[part]
            path.append(part)
    return (*path, last) if last is not None else tuple(path)


def has(value: Any, part: int | str) -> bool:
    """Whether a map has the key, or a list the index."""
    if isinstance(value, (list, tuple)):
        return isinstance(part, int) and part < len(value)
    return isinstance(value, Mapping) and part in value


def unknown_field(path: Path, location: Iterable[int | str], model: type[BaseModel]) -> str:
    """Name the field that does not exist and the nearest one that does."""
    *parents, name = location
    owner = owner_of(model, parents)
    fields = names(owner) if owner else ()
    where = article(noun(owner)) if owner else format_path(path[:-1])
    if owner is Job and (instead := IN_JOBS.get(str(name))):
        return f"field {name!r} does not exist in a job; {instead}"
    hint = did_you_mean(str(name), fields, limit=6) if fields else "remove it"
    return f"field {str(name)[:LONGEST]!r} does not exist in {where}; {hint}"


def names(model: type[BaseModel]) -> tuple[str, ...]:
    """Names of a model's fields as files write them."""
    return tuple(field.alias or name for name, field in model.model_fields.items())


def owner_of(model: type[BaseModel], location: Iterable[int | str]) -> type[BaseModel] | None:
    """Return the model that holds the field at a location, or None where it is no model's."""
    owner: type[BaseModel] | None = model
    for part in location:
        if owner is None:
            return None
        by_alias = {field.alias or name: field.annotation for name, field in owner.model_fields.items()}
        if part in by_alias:
            owner = model_in(by_alias[part])
    return owner


def model_in(annotation: Any) -> type[BaseModel] | None:
    """Return the first model inside a type such as `dict[Name, Pool]` or `Topology | None`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for inner in getattr(annotation, "__args__", ()) if (found := model_in(inner))), None)


def noun(model: type[BaseModel]) -> str:
    """Return the noun for a model in messages: `job`, `borrow within cohort`."""
    return "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in model.__name__).strip()


def article(word: str) -> str:
    """Return the word with its article."""
    return f"{'an' if word[:1] in 'aeiou' else 'a'} {word}"


PRIVATE = re.compile(r"(?<=://)[^/@\s]+(?=@)|(?<=\?)\S+")
"""What an address has for its server alone: a name with its password, and what is asked."""


def show_value(value: Any) -> str:
    """Return a value as a message quotes it: short, and as YAML writes it."""
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return "a map"
    if isinstance(value, (list, tuple)):
        return "a list"
    text = repr(PRIVATE.sub("…", value) if isinstance(value, str) and "://" in value else value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…{text[0]}"


def choice(value: Any, context: Mapping[str, Any]) -> str:
    """Name the nearest of the allowed values."""
    return did_you_mean(str(value), allowed_values(context))


def allowed_values(context: Mapping[str, Any]) -> list[str]:
    """Return the allowed values of a literal, which pydantic writes as `'a', 'b' or 'c'`."""
    return [word.strip("'") for word in str(context.get("expected", "")).replace(" or ", ", ").split(", ")]


def wanted_type(kind: str, value: Any) -> str:
    """Return the type that a value should have; quotes help only a single word."""
    scalar = isinstance(value, (bool, int, float))
    return WANTED[kind] + ("; write it in quotes" if scalar and WANTED[kind] == "text" else "")


def key_rule(kind: str) -> str:
    """Return the rule of a wrong key in a map."""
    return {"literal_error": "choice", "string_type": "type"}.get(kind, kind.replace("_", "-"))


def wanted_key(details: ErrorDetails, context: Mapping[str, Any]) -> str:
    """Return the key that a map should have, as the second half of a sentence."""
    if details["type"] == "literal_error":
        return f"does not exist; {choice(details['input'], context)}"
    return wanted_text(details["type"], context)


def wanted_text(kind: str, context: Mapping[str, Any]) -> str:
    """Return the bounds or the type that a value should have, as the second half of a sentence."""
    bounds = {
        "greater_than_equal": ("at least", "ge"),
        "greater_than": ("more than", "gt"),
        "less_than_equal": ("at most", "le"),
        "less_than": ("less than", "lt"),
    }
    if kind in bounds:
        words, key = bounds[kind]
        return f"must be {words} {context.get(key)}"
    return str(context.get("message", f"must be {WANTED.get(kind, 'another')}"))
