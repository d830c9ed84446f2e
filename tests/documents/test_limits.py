"""Bombs, damage and odd bytes: always findings, never a traceback, never a wait."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from clock import within
from example_counts import tries
from trainyard.base.documents import MAX_DEPTH, Document, load
from trainyard.base.documents.decode import _read_fast
from trainyard.base.documents.events import Memo

BOMBS = {
    "aliases of aliases": "a: &a [x,x,x,x,x,x,x,x,x]\n"
    + "".join(f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(20)),
    "merges of merges": "a0: &a0 {k: 1}\n"
    + "".join(f"a{i}: &a{i} {{<<: [*a{i - 1}, *a{i - 1}]}}\n" for i in range(1, 40)),
    "a chain of aliases": "pad: ["
    + "x," * 60_000
    + "]\na0: &a0 {k: 1}\n"
    + "".join(f"a{i}: &a{i} {{x: *a{i - 1}}}\n" for i in range(1, 400)),
    "a chain of merges": "pad: ["
    + "x," * 60_000
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
    documents, findings = within(1, lambda: load(text.encode(), file="x.yaml"))
    assert not documents
    assert [finding.rule for finding in findings] in (["decode/alias-expansion"], ["decode/depth"])


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
    within(1, lambda: load(data, file="x.yaml"))


def test_depth_within_the_limit_is_read() -> None:
    """Documents may nest as deep as the limit says, whichever reader takes them."""
    flow = "[" * MAX_DEPTH + "]" * MAX_DEPTH
    block = "".join(" " * i + "a:\n" for i in range(MAX_DEPTH - 1)) + " " * (MAX_DEPTH - 1) + "a: 1\n"
    for text in (flow, block, f"&x {flow}"):
        assert load(text.encode(), file="x.yaml")[1] == []


def test_large_files_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file beyond the limit is one finding and is not read."""
    monkeypatch.setattr("trainyard.base.documents.stream.FILE_BYTES", 2 * 2**20)
    documents, findings = load(b"#" * (3 * 2**20), file="x.yaml")
    assert not documents
    assert [finding.message for finding in findings] == ["file has 3 MiB, but the limit is 2 MiB; split it"]


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
    texts = [damaged(chance, MANIFEST, times=1) for _ in range(tries(2000))]
    quick = [_read_fast(text.encode(), 1, Memo()) for text in texts]
    monkeypatch.setattr("trainyard.base.documents.decode._read_fast", lambda *_: None)
    taken = 0
    for text, found in zip(texts, quick, strict=True):
        if found is None or "---" in text:
            continue
        taken += 1
        documents, findings = load(text.encode(), file="x.yaml")
        mine = [value for value, *_ in found if value is not None]
        assert repr(mine) == repr([document.value for document in documents]), text
        assert {finding.rule for finding in findings} <= {"decode/empty-file"}, text
    assert taken > tries(2000) // 4


@settings(max_examples=tries(400), deadline=1000, suppress_health_check=[HealthCheck.too_slow])
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
    for _ in range(tries(1500)):
        data = bytearray(damaged(chance, MANIFEST, times=chance.randint(1, 4)).encode())
        for _ in range(chance.randint(0, 3)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        documents, findings = load(bytes(data), file="x.yaml")
        assert documents or findings
        for document in documents:
            document.location(("spec", "template", "spec", "containers", 0, "env", 1), key=True)
