"""The rules of schemas: which forms a value can have, and where that is asked upstream."""

from __future__ import annotations

from trainyard.apiserver.problems import Rule
from trainyard.apiserver.schema import decoded, dropped, embedded, values
from trainyard.apiserver.schema.lists import APPLIED

TOPICS = {
    **dict.fromkeys(("any-of", "enum", "format", "length", "not", "one-of", "pattern", "range", "size"), values.SOURCE),
    **dict.fromkeys(("null", "required", "type"), values.SOURCE),
    **dict.fromkeys(("base64", "quantity", "time"), decoded.SOURCE),
    "duplicate": APPLIED,
    "embedded": embedded.SOURCE,
    "list-key": APPLIED,
    "unknown-field": dropped.PRUNING,
}

RULES = {topic: Rule(f"schema/{topic}", source) for topic, source in TOPICS.items()}
