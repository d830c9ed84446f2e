"""Keys of labels and selectors of them, with the words in which Kueue's webhooks refuse them.

Restated from k8s.io/apimachinery v0.36 pkg/api/validate/content/kube.go and pkg/apis/meta/v1/validation/validation.go.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

KEY = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
DOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
VALUE = re.compile(rf"({KEY.pattern})?")
MOST, MOST_OF_PREFIX = 63, 253

EMPTY = "must be non-empty"
KEY_WORDS = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    f"(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{KEY.pattern}')"
)
DOMAIN_WORDS = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    f"end with an alphanumeric character (e.g. 'example.com', regex used for validation is '{DOMAIN.pattern}')"
)
VALUE_WORDS = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character "
    f"(e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '{VALUE.pattern}')"
)

TAKE_VALUES = frozenset({"In", "NotIn"})
TAKE_NONE = frozenset({"Exists", "DoesNotExist"})


def invalid(path: str, value: object, message: str) -> str:
    """Write an error as the API server does."""
    return f"{path}: Invalid value: {json.dumps(value, separators=(',', ':'), ensure_ascii=False)}: {message}"


def key_faults(key: str, path: str) -> Iterator[str]:
    """Yield why a key is none of a label."""
    prefix, slash, name = key.rpartition("/")
    if "/" in prefix:
        words = (
            f"a valid label key {KEY_WORDS} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        )
        yield invalid(path, key, words)
        return
    if slash and not prefix:
        yield invalid(path, key, f"prefix part {EMPTY}")
    elif slash:
        if len(prefix) > MOST_OF_PREFIX:
            yield invalid(path, key, f"prefix part must be no more than {MOST_OF_PREFIX} characters")
        if not DOMAIN.fullmatch(prefix):
            yield invalid(path, key, f"prefix part {DOMAIN_WORDS}")
    if not name:
        yield invalid(path, key, f"name part {EMPTY}")
    elif len(name) > MOST:
        yield invalid(path, key, f"name part must be no more than {MOST} characters")
    if not KEY.fullmatch(name):
        yield invalid(path, key, f"name part {KEY_WORDS}")


def value_faults(value: str, path: str) -> Iterator[str]:
    """Yield why a value is none of a label."""
    if len(value) > MOST:
        yield invalid(path, value, f"must be no more than {MOST} characters")
    if not VALUE.fullmatch(value):
        yield invalid(path, value, VALUE_WORDS)


def label_faults(labels: Mapping[str, str], path: str) -> Iterator[str]:
    """Yield what is wrong with labels; Kueue names them in the order of a map, which is chance."""
    for key, value in labels.items():
        yield from key_faults(key, path)
        yield from value_faults(value, path)


def selector_faults(selector: Mapping[str, Any], path: str) -> Iterator[str]:
    """Yield what is wrong with a selector of labels."""
    yield from label_faults(selector.get("matchLabels") or {}, f"{path}.matchLabels")
    for index, each in enumerate(selector.get("matchExpressions") or ()):
        at, operator, values = f"{path}.matchExpressions[{index}]", each.get("operator") or "", each.get("values") or ()
        if operator in TAKE_VALUES and not values:
            yield f"{at}.values: Required value: must be specified when `operator` is 'In' or 'NotIn'"
        elif operator in TAKE_NONE and values:
            yield f"{at}.values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
        elif operator not in TAKE_VALUES | TAKE_NONE:
            yield invalid(f"{at}.operator", operator, "not a valid selector operator")
        yield from key_faults(each.get("key") or "", f"{at}.key")
        for place, value in enumerate(values):
            yield from value_faults(value, f"{at}.values[{place}]")
