"""The rules of schemas: which forms a value can have, and where that is asked upstream."""

from __future__ import annotations

from trainyard.upstream.apiserver.problems import Rule
from trainyard.upstream.apiserver.schema import decoded, dropped, embedded, values
from trainyard.upstream.apiserver.schema.lists import APPLIED

FORMS = (
    "schema/any-of",
    "schema/enum",
    "schema/format",
    "schema/length",
    "schema/not",
    "schema/null",
    "schema/one-of",
    "schema/pattern",
    "schema/range",
    "schema/required",
    "schema/size",
    "schema/type",
)

APPLY = frozenset({"schema/null", "schema/required", "schema/type"})
"""Those of which a part is refused by server-side apply alone."""

RULES = (
    *(Rule(form, values.SOURCE, may_warn=form in APPLY) for form in FORMS),
    *(Rule(id_, decoded.SOURCE) for id_ in ("schema/base64", "schema/quantity", "schema/time")),
    *(Rule(id_, APPLIED, may_warn=True) for id_ in ("schema/duplicate", "schema/list-key")),
    Rule("schema/embedded", embedded.SOURCE),
    Rule("schema/unknown-field", dropped.PRUNING),
)
