"""The rules of reading a file: what keeps its text from being what Kubernetes would read."""

from __future__ import annotations

from trainyard.base.findings import Severity
from trainyard.base.rules import Rule

YAML = "kubernetes-sigs/yaml v1.6.0 yaml.go"
STREAM = "kubernetes/apimachinery v0.35.4 pkg/util/yaml/decoder.go"
LIST = "kubernetes/apimachinery v0.35.4 pkg/apis/meta/v1/unstructured/helpers.go"
OURS = "docs/apiserver.md"

REFUSED = "Kubernetes cannot read the file, so nothing in it is applied"
GUESSED = "YAML readers disagree about it, so the applied value may not be the reviewed one"


def rule(topic: str, title: str, fix: str, *, why: str = REFUSED, source: str = YAML, warning: bool = False) -> Rule:
    """Return a rule of the layer `decode`."""
    severity = Severity.WARNING if warning else Severity.ERROR
    return Rule(f"decode/{topic}", title, why, fix, source, layer="decode", severity=severity)


DECODE = (
    rule("syntax", "A file is YAML or JSON.", "correct the syntax at the line in the message"),
    rule("tab", "YAML is indented with spaces.", "replace the tab by spaces"),
    rule("conflict", "A file contains no merge conflict.", "resolve the conflict, and remove its markers"),
    rule(
        "control-character", "A file contains no control characters.", "remove the character, or write it as an escape"
    ),
    rule(
        "byte-order-mark",
        "A byte order mark is only at the start of a file.",
        "save the file as UTF-8 without a byte order mark",
    ),
    rule("encoding", "A file is UTF-8.", "save the file as UTF-8", source=OURS),
    rule(
        "size",
        "A file has at most 64 MiB, a document at most 8 MiB and 150,000 values.",
        "split the file",
        why="no API server accepts such a large object, and reading it needs too much time and memory",
        source="k8s.io/apiserver v0.35.4 pkg/server/config.go",
    ),
    rule("depth", "Values are not nested deeper than Kubernetes objects.", "flatten the value", source=OURS),
    rule(
        "alias-expansion",
        "Aliases do not expand to a huge document.",
        "write the value out",
        source="yaml/go-yaml v2.4.3 decode.go",
    ),
    rule("unknown-alias", "An alias names an anchor above it.", "name the anchor, or write the value out"),
    rule("recursive-alias", "An alias is not inside its own anchor.", "write the value out"),
    rule(
        "directive",
        "A file has no YAML directives.",
        "remove the line; Kubernetes always reads YAML 1.1",
        why="kubectl and Argo CD split files at each ---, so a directive becomes a document that cannot be read",
        source=STREAM,
    ),
    rule("separator", "Only a line with three dashes separates documents.", "write --- alone", source=STREAM),
    rule(
        "text-after-end",
        "Nothing follows the end of a document.",
        "remove the text, or write --- before it",
        why="Kubernetes ignores it silently",
        source=STREAM,
        warning=True,
    ),
    rule("duplicate-key", "A key appears only once in a map.", "remove one of the two", why=GUESSED),
    rule("merged-key", "A key does not override a merged key.", "remove one of the two", why=GUESSED),
    rule("merge", "A merge key has a map, or a list of maps.", "write the fields out"),
    rule("key", "A key is text or a plain value.", "write the key as text"),
    rule("tag", "Every tag is one that Kubernetes knows.", "remove the tag"),
    rule("not-finite", "A number is finite.", "write a number, or text in quotes"),
    rule(
        "empty-file",
        "A file contains a document.",
        "write a document, or delete the file",
        why="an empty file applies nothing",
        source=OURS,
        warning=True,
    ),
)
OBJECT = rule("not-an-object", "A document is an object with apiVersion and kind.", "write an object", source=LIST)
RULES = {one_rule.id: one_rule for one_rule in (*DECODE, OBJECT)}
ITEMS = rule("items", "The items of a list are a list of objects.", "write the objects as a list", source=LIST)
NESTED = rule("nested-list", "A list contains no other list.", "write its items out", source=LIST)
TYPED = {
    "apiVersion": rule("apiversion", "An object has an apiVersion.", "add apiVersion", source=LIST),
    "kind": rule("kind", "An object has a kind.", "add kind", source=LIST),
}
