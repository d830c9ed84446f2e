"""Labels, annotations and selectors of labels, with the words in which Kueue's webhooks refuse them.

Restated from k8s.io/apimachinery v0.36 pkg/api/validate/content/kube.go and pkg/apis/meta/v1/validation/validation.go.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.upstream.kueue.webhooks.faults import Entry, Fault, Object, Path, objects, texts
from trainyard.upstream.workloads.base import text

KEY = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
DOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
VALUE = re.compile(rf"({KEY.pattern})?")
MOST, MOST_OF_PREFIX, MOST_OF_ANNOTATIONS = 63, 253, 256 * 1024

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


def key_faults(key: str, path: Path, shown: str | None = None) -> Iterator[Fault]:
    """Yield why a key is none of a label; `shown` is how it is written, where that is not the key itself."""
    for detail in key_details(key):
        yield Fault("key", path, key if shown is None else shown, detail)


def key_details(key: str) -> Iterator[str]:
    """Yield the problems with a key, in the words of upstream."""
    prefix, slash, name = key.rpartition("/")
    if "/" in prefix:
        yield f"a valid label key {KEY_WORDS} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        return
    if slash and not prefix:
        yield f"prefix part {EMPTY}"
    elif slash:
        if len(prefix) > MOST_OF_PREFIX:
            yield f"prefix part must be no more than {MOST_OF_PREFIX} characters"
        if not DOMAIN.fullmatch(prefix):
            yield f"prefix part {DOMAIN_WORDS}"
    if not name:
        yield f"name part {EMPTY}"
    elif len(name) > MOST:
        yield f"name part must be no more than {MOST} characters"
    if not KEY.fullmatch(name):
        yield f"name part {KEY_WORDS}"


def value_faults(value: str, path: Path) -> Iterator[Fault]:
    """Yield why a value is none of a label."""
    if len(value) > MOST:
        yield Fault("label", path, value, f"must be no more than {MOST} characters")
    if not VALUE.fullmatch(value):
        yield Fault("label", path, value, VALUE_WORDS)


def label_faults(labels: Object, path: Path) -> Iterator[Fault]:
    """Yield the problems with labels; Kueue names them in the order of a map, which is chance."""
    for key, value in labels.items():
        yield from key_faults(key, (*path, Entry(key)))
        if isinstance(value, str):
            yield from value_faults(value, (*path, Entry(key)))


def annotation_faults(annotations: Object, path: Path) -> Iterator[Fault]:
    """Yield keys that are no qualified names in lower case, and a total size above 256 KiB."""
    total = 0
    for key, value in annotations.items():
        yield from key_faults(key.lower(), (*path, Entry(key)), key)
        total += len(key.encode()) + (len(value.encode()) if isinstance(value, str) else 0)
    if total > MOST_OF_ANNOTATIONS:
        yield Fault("too long", path, detail=f"may not be more than {MOST_OF_ANNOTATIONS} bytes")


def selector_faults(selector: Object, path: Path) -> Iterator[Fault]:
    """Yield the problems with a selector of labels."""
    labels = selector.get("matchLabels")
    yield from label_faults(labels if isinstance(labels, dict) else {}, (*path, "matchLabels"))
    for place, expression in objects(selector, "matchExpressions", "*"):
        at, operator = (*path, *place), text(expression, "operator")
        values = texts(expression, "values", "*")
        if operator in TAKE_VALUES and not values:
            yield Fault("required", (*at, "values"), detail="must be specified when `operator` is 'In' or 'NotIn'")
        elif operator in TAKE_NONE and values:
            detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            yield Fault("forbidden", (*at, "values"), detail=detail)
        elif operator not in TAKE_VALUES | TAKE_NONE:
            yield Fault("invalid", (*at, "operator"), operator, "not a valid selector operator")
        yield from key_faults(text(expression, "key"), (*at, "key"))
        for index, value in values:
            yield from value_faults(value, (*at, *index))
