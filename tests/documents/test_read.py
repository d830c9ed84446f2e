"""Reading YAML and JSON as Kubernetes does: values and findings."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conftest import TESTS
from trainyard.base.documents import load
from trainyard.base.findings import Finding, Severity

DATA = TESTS / "data"
GO = [json.loads(line) for line in (DATA / "yaml_go.jsonl").read_text(encoding="utf-8").strip().split("\n")]
"""Texts with what the API machinery's own code makes of each document in them: YAMLReader of apimachinery 0.35.4,
then YAMLToJSONStrict of sigs.k8s.io/yaml 1.6.0, then the machinery's JSON decoder. `strict` is refused in strict
decoding only, as duplicate keys are. `tests/upstream` asks again."""


def read(text: str | bytes) -> tuple[list[Any], list[str]]:
    """Values of the documents, and findings as `line:column rule: message`."""
    documents, findings = load(text.encode() if isinstance(text, str) else text, file="x.yaml")
    return [document.value for document in documents], [shown(finding) for finding in findings]


def shown(finding: Finding) -> str:
    """A finding as `line:column rule: message`."""
    where = finding.location
    return f"{where.line}:{where.column} {finding.rule.removeprefix('decode/')}: {finding.message}"


def outcomes(text: str) -> list[list[Any]]:
    """What became of each document: ok with its value, strict, or err."""
    documents, findings = load(text.encode(), file="x.yaml")
    out: dict[int | None, list[Any]] = {document.index: ["ok", document.value] for document in documents}
    for finding in findings:
        if finding.is_error:
            index = finding.location.document
            out[index] = ["strict" if index in out else "err"]
    return [out[index] for index in sorted(out, key=lambda index: index or 0)]


def typed(value: Any) -> Any:
    """A value that tells 1 from 1.0 and from true."""
    if isinstance(value, dict):
        return {key: typed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [typed(item) for item in value]
    return type(value).__name__, value


def same(got: list[list[Any]], go: list[list[Any]]) -> bool:
    """Whether every document became the same, with the same value where one was recorded."""
    if [item[0] for item in got] != [item[0] for item in go]:
        return False
    return all(len(theirs) < 2 or typed(mine) == typed(theirs) for mine, theirs in zip(got, go, strict=True))


def test_reads_as_the_api_machinery() -> None:
    """Every text gets the value, or the refusal, that Kubernetes' own code gave it."""
    texts = {case["text"]: case["go"] for case in GO}
    assert len(texts) == len(GO) > 1000
    assert {text for text, go in texts.items() if not same(outcomes(text), go)} == {BEYOND}


BEYOND = '{"a": 1e400}\n'
"""Go's reader of JSON refuses it, and so does a server; its reader of YAML, asked then, makes a string of it."""

STRICTER = {
    "a number of JSON that only a reader of YAML takes": BEYOND,
    "two keys that JSON cannot tell apart, of which Go keeps one by chance": "1: a\n'1': b\n",
    "a boolean key and a string that become one": "yes: a\n'true': b\n",
    "text behind a document that ended, which Go drops": "  a: 1\nb: 2\n",
    "a bracket too many": "{a: 1}\n}\n",
    "a directive in the wrong place": "a: 1\n%YAML 1.1\n",
    "a byte order mark inside, which Go makes part of a key": "a: 1\n\ufeffb: 2\n",
    "a list as the root's key": "[]: v\n",
}


@pytest.mark.parametrize("text", STRICTER.values(), ids=STRICTER)
def test_refuses_what_the_api_machinery_reads_by_accident(text: str) -> None:
    """These have a value in Go, but not the one that was written."""
    _, findings = load(text.encode(), file="x.yaml")
    assert any(finding.is_error for finding in findings)


AS_KUBECTL = {
    "a tab before JSON": ('\t{"a": 1}\n', [{"a": 1}]),
    "objects one after another": ('{"a": 1}{"b": 2}\n{"c": 3}\n', [{"a": 1}, {"b": 2}, {"c": 3}]),
    "a character escaped as two surrogates": ('{"a": "\\ud83d\\ude00"}', [{"a": "😀"}]),
    "half a character": ('{"a": "\\ud83dx"}', [{"a": "\ufffdx"}]),
    "an escaped slash": ('{"a": "\\/"}', [{"a": "/"}]),
    "a delete character": ('{"a": "\x7f"}', [{"a": "\x7f"}]),
    "a number beyond a float in YAML's own words": ("{a: 1e400}", [{"a": "1e400"}]),
    "no number at all": ('{"a": NaN}', [{"a": "NaN"}]),
    "large and whole numbers": ('{"a": [1.0, 1e3, 18446744073709551615]}', [{"a": [1, 1000, 1.8446744073709552e19]}]),
}


@pytest.mark.parametrize(("text", "values"), AS_KUBECTL.values(), ids=AS_KUBECTL)
def test_reads_json_as_kubectl_does(text: str, values: list[Any]) -> None:
    """A text that starts with a brace is JSON first, then YAML."""
    assert typed(read(text)) == typed((values, []))


PROBLEMS = {
    "a key twice": ("a: 1\nb: 2\na: 3\n", "3:1 duplicate-key: key 'a' is written twice, first on line 1; keep one"),
    "a key merged and written": (
        "a: &x {b: 1}\nc:\n  <<: *x\n  b: 2\n",
        "4:3 merged-key: key 'b' is set here and by '<<' too, which the API server refuses; keep one",
    ),
    "a merge of no map": (
        "a: {<<: [1]}\n",
        "1:10 merge: '<<' merges a value that is not a map; use a map, or a list of maps",
    ),
    "a null key": ("a: 1\n~: 2\n", "2:1 key: key '~' is not a string in JSON; quote it"),
    "an empty key": ("? \n: 1\n", "1:2 key: key 'null' is not a string in JSON; quote it"),
    "a list as a key": ("a: {[b]: 1}\n", "1:5 key: a key is a list; keys must be strings"),
    "a number of JSON beyond a float": (
        '{"1e400": "1e400 \\" 1e400",\n "a": [-1e400]}\n',
        "2:8 not-finite: -1e400 is too large a number for JSON; write a smaller one, or quote it",
    ),
    "a whole number of JSON beyond a float": (
        '{"a": 1}\n{"a": 1' + "0" * 309 + "}",
        f"2:7 not-finite: 1{'0' * 39} is too large a number for JSON; write a smaller one, or quote it",
    ),
    "not a number": ("a: .nan\n", "1:4 not-finite: .nan is not a number in JSON; write a finite number, or quote it"),
    "an unknown alias": (
        "a: *x\n",
        "1:4 unknown-alias: this alias has no anchor before it; add the anchor, or quote the text",
    ),
    "an alias inside its own anchor": (
        "a: &x [*x]\n",
        "1:8 recursive-alias: this alias is inside its own anchor; write the value out",
    ),
    "a tag that lies": (
        "a: !!int x\n",
        "1:4 tag: the value does not match its tag '!!int'; remove the tag or correct the value",
    ),
    "an unfinished merge": (
        "a: 1\n<<<<<<< HEAD\nb: 2\n=======\nb: 3\n>>>>>>> work\n",
        "2:1 conflict: the file contains markers of a merge conflict; resolve it and remove them",
    ),
    "a tab": ("a:\n\tb: 1\n", "2:1 tab: line is indented with a tab; use spaces"),
    "a control character": (
        "a: 1\nb: \x07\n",
        "2:4 control-character: control character U+0007 is not allowed in YAML; remove it or escape it in quotes",
    ),
    "a byte that is not UTF-8": (b"a: \xc3\xa9\xff\n", "1:5 encoding: byte 0xFF is not UTF-8; save the file as UTF-8"),
    "UTF-32": ("a: 1\n".encode("utf-32"), "1:1 encoding: file is UTF-32; save it as UTF-8"),
    "half a character of UTF-16": (
        "a: 1\n".encode("utf-16")[:-1],
        "1:1 encoding: file is broken UTF-16; save it as UTF-8",
    ),
    "text on the separator": (
        "a: 1\n--- {b: 2}\n",
        "2:1 separator: text after '---' on a line breaks the document separator; write only '---'",
    ),
    "four dashes": (
        "----\na: 1\n",
        "1:1 separator: text after '---' on a line breaks the document separator; write only '---'",
    ),
    "a document after dots": (
        "a: 1\n...\nb: 2\n",
        "3:1 text-after-end: kubectl and Argo CD drop the text from here; begin a document with '---' on its own line",
    ),
    "text after the end": (
        "  a: 1\nb: 2\n",
        "2:1 syntax: text follows the document's end; align it, or write '---' before it",
    ),
    "nothing": ("# only a comment\n", "1:1 empty-file: file contains no document; write one or delete the file"),
    "an unclosed quote": ("a: 'b\nc: d\n", "1:4 syntax: a quote opens here and never closes; close it"),
    "an unclosed quote that another one closes": (
        'a: 1\nb: "c\nd: "e"\n',
        "2:4 syntax: a quote opens here and never closes; close it",
    ),
    "an unclosed list": ("a: [b\nc: d\n", "1:4 syntax: a list in [] lacks a comma or its ']'; add it"),
    "an unclosed map": ("a: {b: c\nd: e\n", "1:4 syntax: a map in {} lacks a comma or its '}'; add it"),
    "no space behind the colon": ("a: 1\nb:2\nc: 3\n", "2:1 syntax: a key has no ':' after it; write 'key: value'"),
    "no colon": ("a: 1\n# b\nb 2\nc: 3\n", "3:1 syntax: a key has no ':' after it; write 'key: value'"),
    "an equals sign, in a list": (
        "- a: 1\n  b = 2\n  c: 3\n",
        "2:3 syntax: a key has no ':' after it; write 'key: value'",
    ),
    "a key that is indented too far": (
        "a: b\n  c: d\n",
        "2:3 syntax: line is not aligned with the other keys of its map; correct its indentation",
    ),
    "a colon in a value": ("a: b: c\n", "1:5 syntax: ': ' inside a value starts another value; quote the whole value"),
    "a key out of line": (
        "a:\n    b: 1\n  c: 2\n",
        "3:3 syntax: line is not aligned with the other keys of its map; correct its indentation",
    ),
    "a value that starts with @": ("a: @b\n", "1:4 syntax: a plain value cannot start with '@'; quote the value"),
    "an unknown escape": ('a: "\\q"\n', "1:5 syntax: '\\q' is not an escape in double quotes; double the backslash"),
    "a question mark in a flow": (
        "a: [b?c]\n",
        "1:5 syntax: Kubernetes refuses '?' in unquoted text inside [] or {}; quote the text",
    ),
    "an escaped slash outside JSON": (
        'a: "\\/"\n',
        "1:4 syntax: '\\/' is not an escape in double quotes for Kubernetes; write '/'",
    ),
}


@pytest.mark.parametrize(("text", "report"), PROBLEMS.values(), ids=PROBLEMS)
def test_says_what_is_wrong_and_where(text: str | bytes, report: str) -> None:
    """Each problem is one finding with its place, in a sentence of at most twenty words."""
    _, findings = read(text)
    assert findings == [report]
    assert len(report.split(": ", 1)[1].split()) <= 20


def test_every_document_and_every_problem_is_reported() -> None:
    """A broken document hides neither the others nor their problems; empty ones are not counted."""
    documents, findings = load(b"# c\n---\na: 1\n---\nb: [\n---\n---\nc: 1\nc: 2\n", file="x.yaml")
    assert [(document.index, document.value) for document in documents] == [(0, {"a": 1}), (2, {"c": 2})]
    assert [(finding.location.document, finding.location.line) for finding in findings] == [(1, 6), (2, 9)]


def test_utf_16_with_its_mark_is_read() -> None:
    """YAML may be UTF-16 in either order of bytes, as go-yaml reads it."""
    for encoding in ("utf-16-le", "utf-16-be"):
        documents, findings = load("\ufeffa: é\n".encode(encoding), file="a.yaml")
        assert ([document.value for document in documents], findings) == ([{"a": "é"}], [])


def test_a_repeated_key_names_its_field() -> None:
    """The finding has the path of the key, and the document says that it is refused although it has a value."""
    documents, findings = load(b"a: 1\n---\nb:\n- <<: {c: {d: 1, d: 2}}\n", file="x.yaml")
    assert [finding.path for finding in findings] == ["b[0].c.d"]
    assert [document.refused for document in documents] == [False, True]
    assert findings[0].source == "kubernetes-sigs/yaml v1.6.0 yaml.go"


def test_dropped_text_and_empty_files_are_warnings() -> None:
    """What Kubernetes takes in silence does not fail a run by itself."""
    for text in (b"a: 1\n...\nb: 2\n", b"", b"---\n---\n"):
        assert [finding.severity for finding in load(text, file="x.yaml")[1]] == [Severity.WARNING]


def test_a_repeated_value_is_a_copy() -> None:
    """Changing one use of an anchor leaves the others alone."""
    (value,), _ = read("a: &x {b: [1]}\nc: *x\nd: {<<: *x}\n")
    value["c"]["b"].append(2)
    assert value == {"a": {"b": [1]}, "c": {"b": [1, 2]}, "d": {"b": [1]}}
