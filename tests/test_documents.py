"""Reading YAML and JSON as Kubernetes does: values, findings, limits."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from trainyard.documents import MAX_DEPTH, Document, load
from trainyard.documents.decode import _read_fast
from trainyard.documents.events import Memo
from trainyard.findings import Finding, Severity

DATA = Path(__file__).parent / "data"
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


@pytest.mark.parametrize("case", GO, ids=[json.dumps(case["text"])[:60] for case in GO])
def test_reads_as_the_api_machinery(case: dict[str, Any]) -> None:
    """Every text gets the value, or the refusal, that Kubernetes' own code gave it."""
    got = outcomes(case["text"])
    assert [each[0] for each in got] == [each[0] for each in case["go"]]
    for mine, theirs in zip(got, case["go"], strict=True):
        if len(theirs) == 2:
            assert typed(mine) == typed(theirs)


STRICTER = {
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
    "a number beyond a float, for which YAML is asked": ('{"a": 1e400}', [{"a": "1e400"}]),
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
        "1:10 merge: '<<' merges something that is no map; give it a map, or a list of maps",
    ),
    "a null key": ("a: 1\n~: 2\n", "2:1 key: key '~' is no string in JSON; quote it"),
    "an empty key": ("? \n: 1\n", "1:2 key: key 'null' is no string in JSON; quote it"),
    "a list as a key": ("a: {[b]: 1}\n", "1:5 key: a key is a list; keys must be strings"),
    "not a number": ("a: .nan\n", "1:4 not-finite: .nan is no number in JSON; write a finite number, or quote it"),
    "an unknown alias": (
        "a: *x\n",
        "1:4 unknown-alias: alias '*x' has no anchor before it; write '&x' at the value it repeats",
    ),
    "an alias inside its own anchor": (
        "a: &x [*x]\n",
        "1:8 recursive-alias: anchor '&x' contains itself; write the value out",
    ),
    "a tag that lies": (
        "a: !!int x\n",
        "1:4 tag: value 'x' is not what its tag '!!int' says; remove the tag or mend the value",
    ),
    "a tab": ("a:\n\tb: 1\n", "2:1 tab: a tab stands where YAML wants spaces; indent with spaces"),
    "a control character": (
        "a: 1\nb: \x07\n",
        "2:4 control-character: control character U+0007 is not allowed in YAML; remove it or escape it in quotes",
    ),
    "a byte that is not UTF-8": (b"a: \xc3\xa9\xff\n", "1:5 encoding: byte 0xFF is not UTF-8; save the file as UTF-8"),
    "UTF-16": ("a: 1\n".encode("utf-16"), "1:1 encoding: file is UTF-16; save it as UTF-8"),
    "text on the separator": (
        "a: 1\n--- {b: 2}\n",
        "2:1 separator: '--- {b: 2}' is no document separator; put only '---' on the line",
    ),
    "four dashes": ("----\na: 1\n", "1:1 separator: '----' is no document separator; put only '---' on the line"),
    "a document after dots": (
        "a: 1\n...\nb: 2\n",
        "3:1 text-after-end: kubectl and Argo CD drop the text from here; begin a document with '---' on its own line",
    ),
    "text after the end": (
        "  a: 1\nb: 2\n",
        "2:1 syntax: text stands behind the document's end; align it or start with '---'",
    ),
    "nothing": ("# only a comment\n", "1:1 empty-file: file holds no document; write one or delete the file"),
    "an unclosed quote": ("a: 'b\nc: d\n", "3:1 syntax: a quote is opened here or above and never closed; close it"),
    "an unclosed list": ("a: [b\nc: d\n", "2:2 syntax: a list in [] lacks a comma or its ']'; add it"),
    "a colon in a value": ("a: b: c\n", "1:5 syntax: ': ' inside a value starts another one; quote the value"),
    "a key out of line": (
        "a:\n    b: 1\n  c: 2\n",
        "3:3 syntax: line is indented unlike the other keys of its map; align it with them",
    ),
    "a value that starts with @": ("a: @b\n", "1:4 syntax: a plain value cannot start with '@'; quote the value"),
    "an unknown escape": ('a: "\\q"\n', "1:5 syntax: '\\q' is no escape in double quotes; double the backslash"),
    "a question mark in a flow": (
        "a: [b?c]\n",
        "1:5 syntax: a '?' in an unquoted text inside [] or {} is refused by Kubernetes; quote the text",
    ),
    "an escaped slash outside JSON": (
        'a: "\\/"\n',
        "1:4 syntax: '\\/' is no escape in double quotes for Kubernetes; write '/'",
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


BOMBS = {
    "aliases of aliases": "a: &a [x,x,x,x,x,x,x,x,x]\n"
    + "".join(f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(20)),
    "merges of merges": "a0: &a0 {k: 1}\n"
    + "".join(f"a{i}: &a{i} {{<<: [*a{i - 1}, *a{i - 1}]}}\n" for i in range(1, 40)),
    "a chain of aliases": "pad: ["
    + "x," * 150_000
    + "]\na0: &a0 {k: 1}\n"
    + "".join(f"a{i}: &a{i} {{x: *a{i - 1}}}\n" for i in range(1, 400)),
    "a chain of merges": "pad: ["
    + "x," * 150_000
    + "]\na0: &a0 {k: 1}\n"
    + "".join(f"a{i}: &a{i} {{<<: *a{i - 1}}}\n" for i in range(1, 400)),
    "open brackets": "[" * 200_000,
    "open braces": "{a: " * 100_000,
    "dashes": "- " * 100_000,
    "question marks": "? " * 100_000,
    "ever deeper keys": "".join(" " * i + "a:\n" for i in range(1000)),
    "deep JSON": '{"a":' * 50_000 + "1" + "}" * 50_000,
}


@pytest.mark.parametrize("text", BOMBS.values(), ids=BOMBS)
def test_a_bomb_is_one_finding(text: str) -> None:
    """Limits on depth and aliases hold before memory or time are spent."""
    start = time.process_time()
    documents, findings = load(text.encode(), file="x.yaml")
    assert not documents
    assert [finding.rule for finding in findings] in (["decode/alias-expansion"], ["decode/depth"])
    assert time.process_time() - start < 1


LARGE = {
    "separators": b"---\n" * 50_000,
    "quotes": b'"' * 200_000,
    "digits": b"a: " + b"1" * 1_000_000,
    "escaped quotes that only Go reads": b'a: "' + b"\\'" * 100_000 + b'"',
    "lines that only seem to go on": b"- a\n# c\n  b\n" * 20_000,
    "keys written twice": b"".join(b"k%d: 1\nk%d: 2\n" % (i, i) for i in range(5_000)),
    "flows that never close": b"- [a\n" * 20_000,
    "carriage returns": b"\r" * 200_000,
    "numbers of every base": b"".join(b"- 0%c%s\n" % (c, b"1" * 5_000) for c in b"xob0"),
}


@pytest.mark.parametrize("data", LARGE.values(), ids=LARGE)
def test_odd_large_files_take_no_time(data: bytes) -> None:
    """Nothing is quadratic in the size of a file."""
    start = time.process_time()
    load(data, file="x.yaml")
    assert time.process_time() - start < 1


def test_depth_within_the_limit_is_read() -> None:
    """Documents may nest as deep as the limit says, whichever reader takes them."""
    flow = "[" * MAX_DEPTH + "]" * MAX_DEPTH
    block = "".join(" " * i + "a:\n" for i in range(MAX_DEPTH - 1)) + " " * (MAX_DEPTH - 1) + "a: 1\n"
    for text in (flow, block, f"&x {flow}"):
        assert read(text)[1] == []


def test_a_repeated_value_is_a_copy() -> None:
    """Changing one use of an anchor leaves the others alone."""
    (value,), _ = read("a: &x {b: [1]}\nc: *x\nd: {<<: *x}\n")
    value["c"]["b"].append(2)
    assert value == {"a": {"b": [1]}, "c": {"b": [1, 2]}, "d": {"b": [1]}}


def test_large_files_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file beyond the limit is one finding and is not read."""
    monkeypatch.setattr("trainyard.documents.stream.MAX_BYTES", 2 * 2**20)
    assert read(b"#" * (3 * 2**20)) == ([], ["1:1 size: file has 3 MiB, at most 2 are read; split it"])


MANIFEST = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: x
  annotations:
    a: |
      set -e
        x

    b: >-
      folded
      text
spec:
  suspend: yes
  template:
    spec:
      containers:
      - name: a
        args: ["--x", -y, 'z', "q\\n"]
        env:
        - {name: A, value: "1"}
        -   name: B  # why
            value: plain text
              over lines
      - name: b
        resources: {}
"""
PIECES = [
    "\n",
    " ",
    "  ",
    ": ",
    "- ",
    "# c",
    "'",
    '"',
    "[",
    "]",
    "{",
    "}",
    "|",
    ">",
    "&a ",
    "*a",
    "!x ",
    "<<: ",
    "?",
    "\t",
    "\r",
]
PIECES += ["---\n", "...\n", "0x1", "yes", "~", "\\", "\x00", "\u2028", "\ufeff", "é", "\n  - x\n", "\nk: v\n"]


def damaged(chance: random.Random, text: str, *, times: int) -> str:
    """Insert, delete, double or move something small, so many times."""
    for _ in range(times):
        at, size = chance.randint(0, len(text)), chance.randint(0, 12)
        cut = text[at : at + size]
        text = chance.choice(
            (
                text[:at] + chance.choice(PIECES) + text[at:],
                text[:at] + text[at + size :],
                text[:at] + cut + text[at:],
                cut + text[:at] + text[at + size :],
            )
        )
    return text


def test_fast_and_careful_readers_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a fast reader takes, the careful one reads alike and without a finding."""
    chance = random.Random(20261121)
    texts = [damaged(chance, MANIFEST, times=1) for _ in range(2000)]
    quick = [_read_fast(text.encode(), 1, Memo()) for text in texts]
    monkeypatch.setattr("trainyard.documents.decode._read_fast", lambda *_: None)
    taken = 0
    for text, found in zip(texts, quick, strict=True):
        if found is None or "---" in text:
            continue
        taken += 1
        values, findings = read(text)
        assert typed([value for value, *_ in found if value is not None]) == typed(values), text
        assert not findings or "empty-file" in findings[0], text
    assert taken > 500


@settings(max_examples=400, deadline=1000, suppress_health_check=[HealthCheck.too_slow])
@given(st.one_of(st.binary(max_size=200), st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace"))))
@example(b"\xef\xbb\xbf")
@example(b"? ")
@example(b"a: !!float 0x")
def test_no_bytes_raise(data: bytes) -> None:
    """Any bytes give documents and findings, and every document can be asked for places."""
    documents, findings = load(data, file="x.yaml")
    for document in documents:
        assert isinstance(document, Document)
        assert document.location(("a", 0)).file == "x.yaml"
    for finding in findings:
        assert finding.layer == "decode"
        assert (finding.location.line or 0) >= 1


def test_damaged_files_never_raise() -> None:
    """Bytes damaged at random give findings, never a traceback."""
    chance = random.Random(7)
    for _ in range(1500):
        data = bytearray(damaged(chance, MANIFEST, times=chance.randint(1, 4)).encode())
        for _ in range(chance.randint(0, 3)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        documents, findings = load(bytes(data), file="x.yaml")
        assert documents or findings
        for document in documents:
            document.location(("spec", "template", "spec", "containers", 0, "env", 1), key=True)
