"""State the GPU software of an image in a job's file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.base.documents import load
from trainyard.base.errors import SpecError
from trainyard.specs.editing.fields import SCALAR, fields


def state_software(text: str, file: str, software: Mapping[str, Any]) -> str:
    """Return the text in which `image` is the image's name with its software; the rest stays as it is.

    Raises SpecError where the text is written in a way that only a person can edit, such as on one line.
    """
    value = fields(text, file)
    stated = {"name": value["image"], **software}
    documents, _ = load(text.encode(), file=file)
    number = (documents[0].location(("image",), key=True).line or 1) - 1
    lines = text.splitlines(keepends=True)
    match = SCALAR.fullmatch(lines[number])
    if match is not None:
        lines[number] = f"{match['key']} {{{write_pairs(stated)}}}{match['rest']}"
    changed = "".join(lines)
    documents, findings = load(changed.encode(), file=file)
    if findings or [document.value for document in documents] != [{**value, "image": stated}]:
        raise SpecError(f"{file} cannot be edited automatically; write image: {{{write_pairs(stated)}}}")
    return changed


def write_pairs(stated: Mapping[str, Any]) -> str:
    """Return a map within braces: releases in quotes, since 12.10 is no number, and branches as they are."""
    words = {key: value if isinstance(value, list) else f'"{value}"' for key, value in stated.items()}
    return ", ".join(f"{key}: {stated['name'] if key == 'name' else words[key]}" for key in stated)
