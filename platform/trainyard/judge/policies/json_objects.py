"""JSON in fields of objects, as configurations of networks are written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def json_object(text: str) -> Mapping[str, Any] | None:
    """Return a text's JSON object, None where it is none.

    >>> [json_object(text) for text in ('{"type": "host-device"}', "[]", "{")]
    [{'type': 'host-device'}, None, None]
    """
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
