"""A stream of any length in pieces of whole documents."""

from __future__ import annotations

import io
import json

import pytest
import yaml

from trainyard.base.documents import load
from trainyard.base.documents.pieces import BLOCK, pieces
from trainyard.base.limits import DOCUMENT_BYTES


def values(data, *, block=BLOCK):
    """Return the values of a stream that is read some bytes at a time, with the lines on which they start."""
    stream = io.BytesIO(data)
    found = []
    for piece in pieces(lambda size: stream.read(min(size, block))):
        documents, findings = load(piece.data, file="a", first_line=piece.line)
        assert not findings
        found += [(document.location().line, document.value) for document in documents]
    return found


def items(size, *, each=400):
    """Return objects that have about so many bytes together, with letters of more than one byte."""
    return [{"kind": "A", "id": number, "text": "}\n{ü\n--- " * (each // 10)} for number in range(size // each)]


LINES = b"".join(json.dumps(item).encode() + b"\n" for item in items(60_000))
STREAMS = {
    "JSON lines": LINES,
    "JSON values of several lines": b"".join(
        json.dumps(item, indent=1).encode() + b"\n" for item in items(60_000)
    ),
    "documents of YAML": b"---\n".join(yaml.safe_dump(item).encode() for item in items(60_000)),
    "YAML behind JSON behind YAML": b"a: 1\n---\n" + LINES + b"---\nb: {c: 1}\n---\n" + LINES,
    "Windows' line ends": LINES.replace(b"\n", b"\r\n"),
}  # fmt: skip


@pytest.mark.parametrize("data", STREAMS.values(), ids=STREAMS)
@pytest.mark.parametrize("block", [977, 20_000, BLOCK])
def test_pieces_hold_what_the_whole_does(data, block):
    """The documents of the pieces are those of the whole, with their lines, however little is read at once."""
    documents, findings = load(data, file="a")
    assert not findings
    assert values(data, block=block) == [(document.location().line, document.value) for document in documents]


LONG = items(DOCUMENT_BYTES + 1_000_000, each=40_000)
LISTS = {
    "as kubectl prints JSON": json.dumps(
        {"apiVersion": "v1", "items": LONG, "kind": "List", "metadata": {"resourceVersion": ""}}, indent=4
    ),
    "in one line": json.dumps({"kind": "List", "apiVersion": "v1", "metadata": {}, "items": LONG}),
    "as kubectl prints YAML": yaml.dump(
        {"apiVersion": "v1", "items": LONG, "kind": "List", "metadata": {}}, Dumper=yaml.CSafeDumper
    ),
}


@pytest.mark.parametrize("text", LISTS.values(), ids=LISTS)
def test_a_long_list_is_taken_apart(text):
    """Items of a List that is longer than a document are documents, then the List without them, then what follows."""
    follows = "\n---\nz: 1\n"
    found = values((text + follows).encode())
    assert [value for _, value in found if value.get("kind") == "A"] == LONG
    *_, (_, rest), (line, last) = found
    assert (rest["items"], rest["kind"], last) == ([], "List", {"z": 1})
    assert (text + follows).split("\n")[line - 1] == "z: 1"


def test_only_as_much_as_a_document_is_held():
    """Of a document that is too large its head is left, which the reader refuses; what follows is read."""
    large = b"a:\n" + b"- 1\n" * (DOCUMENT_BYTES // 2)
    found = list(pieces(io.BytesIO(large + b"---\nb: 1\n").read))
    assert [piece.too_large for piece in found] == [True, False]
    assert len(found[0].data) < DOCUMENT_BYTES + 2 * BLOCK
    (finding,) = load(found[0].data, file="a")[1]
    assert finding.rule == "decode/size"
    assert load(found[1].data, file="a", first_line=found[1].line)[0][0].location().line == large.count(b"\n") + 2


def test_a_fault_in_a_long_list_is_found_at_its_line():
    """An item that is no JSON is refused where it stands; those before it are read."""
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": LONG}, indent=1).replace('"id": 7,', '"id" 7,')
    documents, findings = [], []
    for piece in pieces(io.BytesIO(text.encode()).read):
        found, wrong = load(piece.data, file="a", first_line=piece.line)
        documents, findings = documents + found, findings + wrong
    assert [document.value["id"] for document in documents] == list(range(7))
    lines = text.split("\n")
    assert [(finding.rule, "{" in lines[finding.location.line - 1]) for finding in findings] == [
        ("decode/syntax", True)
    ]
    assert '"id" 7,' in lines[findings[0].location.line + 1]


def test_a_file_of_many_json_lines_is_read():
    """What is too large for a document is no fault where it is several: JSON lines, and a List."""
    lines = "".join(json.dumps(item) + "\n" for item in LONG)
    for text in (lines, LISTS["as kubectl prints JSON"]):
        documents, findings = load(text.encode(), file="a")
        assert not findings
        assert [document.value for document in documents if document.value["kind"] == "A"] == LONG
