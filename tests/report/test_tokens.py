"""What a finding is about is underlined as a whole, and its end is told to programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from trainyard.base.documents import load
from trainyard.base.findings import Finding, Location
from trainyard.base.findings import Path as Field
from trainyard.faces.cli._findings import reader
from trainyard.faces.report import View, render
from trainyard.faces.report.excerpt import excerpt
from trainyard.faces.report.tokens import end_of
from trainyard.judge.checks.result import Result

FILE = "a.yaml"

TOKENS: dict[str, tuple[str, Field, str]] = {
    "letters beyond ASCII": ('ä: "中文 wert"\n', ("ä",), '"中文 wert"'),
    "plain words before a comment": ("a: ünï x  # why\n", ("a",), "ünï x"),
    "a quote within quotes": ("a: 'it''s: x'\n", ("a",), "'it''s: x'"),
    "an escaped quote": ('a: "q \\" r" # why\n', ("a",), '"q \\" r"'),
    "words in a list in brackets": ("a: {b: [1, two words, c], e: f}\n", ("a", "b", 1), "two words"),
    "a map in brackets": ("a: {b: [1, 2]}\n", ("a",), "{b: [1, 2]}"),
    "a value behind tabs": ("a:\t\tone two\t# why\n", ("a",), "one two"),
    "a line that ends as on Windows": ("a: x y\r\nb: z w\r\n", ("b",), "z w"),
    "a file with a byte order mark": ("\ufeffa: x y\n", ("a",), "x y"),
    "a second document": ("a: 1\n---\nb: {c: d e}\n", ("b", "c"), "d e"),
    "JSON": ('{"a": {"b": "c d"}}', ("a", "b"), '"c d"'),
    "the first key of an item": ("a:\n- name: foo\n  x: 1\n", ("a", 0), "name"),
    "an anchor and its value": ("a: &x one two\nb: *x\n", ("a",), "&x one two"),
    "text before a mistake in the syntax": ("a: one two\nb: [\n", ("a",), "one two"),
}


def written(folder: Path, text: str, field: Field, *, key: bool = False) -> Location:
    """Write a file, and return the place of a field in it."""
    (folder / FILE).write_bytes(text.encode())
    documents, _ = load(text.partition("b: [\n")[0].encode(), file=FILE)
    return next(one for one in documents if field[0] in one.value).location(field, key=key)


@pytest.mark.parametrize(("text", "field", "token"), TOKENS.values(), ids=TOKENS)
def test_a_value_ends_where_its_text_does(tmp_path: Path, text: str, field: Field, token: str) -> None:
    """From the place of the finding to its end there is the value and nothing else, however it is written."""
    where, lines = written(tmp_path, text, field), reader(tmp_path)
    line, column = end_of(where, lines) or (0, 0)
    assert line == where.line
    assert lines(FILE)[line - 1][(where.column or 0) - 1 : column - 1] == token


def test_a_key_ends_before_its_colon(tmp_path: Path) -> None:
    """A finding on a key is not on its value."""
    assert end_of(written(tmp_path, "ab cd: x\n", ("ab cd",), key=True), reader(tmp_path)) == (1, 6)


BLOCKS = {
    "a block with an empty line behind it": ("a: |\n  one\n  two\n\nb: 1\n", (3, 6)),
    "a block at the end": ("a: >-\n  one\n", (2, 6)),
    "plain words over two lines": ("a: one\n  two\nb: 1\n", (2, 6)),
    "a list in brackets over two lines": ("a: [one,\n  two]\n", (2, 7)),
}


@pytest.mark.parametrize(("text", "end"), BLOCKS.values(), ids=BLOCKS)
def test_a_value_of_several_lines_ends_on_its_last(tmp_path: Path, text: str, end: tuple[int, int]) -> None:
    """The mark below its first line goes no further than the line."""
    where, lines = written(tmp_path, text, ("a",)), reader(tmp_path)
    assert end_of(where, lines) == end
    (_, shown), (_, mark) = excerpt(where, lines)
    assert len(mark) == len(shown)


def test_a_part_of_a_value_ends_with_it(tmp_path: Path) -> None:
    """Where a finding is on a part, as on an image's tag, the mark goes to the end of the value at most."""
    (tmp_path / FILE).write_text("image: host/name:v1\nb: [x/y]\n")
    lines = reader(tmp_path)
    assert end_of(Location(FILE, 1, 17), lines) == (1, 20)
    assert end_of(Location(FILE, 2, 6), lines) == (2, 8)


def test_a_value_that_is_not_there_has_one_column(tmp_path: Path) -> None:
    """An empty region would be no mark at all."""
    assert end_of(written(tmp_path, "a:\nb: 1\n", ("a",)), reader(tmp_path)) == (1, 4)


def found(folder: Path, text: str) -> tuple[Result, View]:
    """Return a result with a finding on the field `a` of a file."""
    finding = Finding("spec/form", "spec", "a is odd", written(folder, text, ("a",)))
    return Result(findings=[finding]), View(lines=reader(folder))


def test_programs_are_told_the_end(tmp_path: Path) -> None:
    """SARIF's region and GitHub's annotation end where the mark in the text does."""
    result, view = found(tmp_path, "a: one two\n")
    (entry,) = json.loads(render(result, "sarif", view))["runs"][0]["results"]
    region = entry["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 1, "startColumn": 4, "endLine": 1, "endColumn": 11}
    assert "line=1,col=4,endLine=1,endColumn=11," in render(result, "github", view)
    assert f"{'':>6} | {'':3}^^^^^^^\n" in render(result, "text", view)


def test_an_annotation_of_several_lines_has_no_columns_at_its_end(tmp_path: Path) -> None:
    """GitHub takes the column of the end for one of the first line."""
    result, view = found(tmp_path, "a: |\n  one\n")
    assert "line=1,col=4,endLine=2,title=" in render(result, "github", view)
