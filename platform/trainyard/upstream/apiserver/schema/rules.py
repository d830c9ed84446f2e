"""The rules of schemas: which forms a value can have, and which upstream file checks them."""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.upstream.apiserver.problems import Rule
from trainyard.upstream.apiserver.schema import decoded, dropped, embedded, values
from trainyard.upstream.apiserver.schema.lists import APPLIED

FORMS: Mapping[str, tuple[str, str]] = {
    "schema/any-of": (
        "A value has at least one of the forms that its schema lists (anyOf).",
        "change the value to one of these forms; other findings on this field name the nearest one",
    ),
    "schema/enum": ("A value is one of the values that its schema lists.", "use one of the values in the message"),
    "schema/format": ("A text has the format that its schema names.", "write the text in the format of the message"),
    "schema/length": ("A text has a length that its schema allows.", "shorten or lengthen the text"),
    "schema/not": (
        "A value does not have the form that its schema excludes (not).",
        "use another form; the CRD describes it",
    ),
    "schema/null": ("Fields are not null.", "remove the field, or give it a value"),
    "schema/one-of": (
        "A value has exactly one of the forms that its schema lists (oneOf).",
        "set the fields of one form, and remove those of the others",
    ),
    "schema/pattern": ("A text matches the pattern of its schema.", "change the text so that it matches the pattern"),
    "schema/range": ("A number is within the limits of its schema.", "use a number within the limit of the message"),
    "schema/required": ("Required fields are present.", "add the field that the message names"),
    "schema/size": ("A list or object has a number of entries that its schema allows.", "add or remove entries"),
    "schema/type": (
        "A value has the type that its schema names.",
        "use the type in the message; put quotes around texts, not around numbers",
    ),
}
"""By the id of a rule, its title and fix."""

APPLY = frozenset({"schema/null", "schema/required", "schema/type"})
"""Rules of which server-side apply refuses more than create does."""

RULES = (
    *(Rule(id_, values.SOURCE, title=title, fix=fix, may_warn=id_ in APPLY) for id_, (title, fix) in FORMS.items()),
    Rule(
        "schema/base64",
        decoded.SOURCE,
        title="Binary data is base64.",
        fix="encode the value, or use stringData for the plain text of a Secret",
    ),
    Rule(
        "schema/quantity",
        decoded.SOURCE,
        title="Amounts are Kubernetes quantities.",
        fix="write a quantity such as 500m, 2 or 64Gi",
    ),
    Rule(
        "schema/time",
        decoded.SOURCE,
        title="Times are in the format of RFC 3339.",
        fix="write a time such as 2026-01-31T12:00:00Z",
    ),
    Rule(
        "schema/duplicate",
        APPLIED,
        title="Entries of a set or of a list with keys are unique.",
        fix="remove the second entry, or change its key",
        may_warn=True,
    ),
    Rule(
        "schema/list-key",
        APPLIED,
        title="Entries of a list with keys have their keys.",
        fix="add the key that the message names, or remove the empty entry",
        may_warn=True,
    ),
    Rule(
        "schema/embedded",
        embedded.SOURCE,
        title="Objects inside an object have valid apiVersion, kind and metadata.",
        fix="correct the field of the inner object",
    ),
    Rule(
        "schema/unknown-field",
        dropped.PRUNING,
        title="All fields exist in the schema of their kind.",
        fix="correct the name, or remove the field",
        why="the API server refuses the object, or silently drops the field",
    ),
)
