"""Comments that ignore rules: where they count, what is no comment, and what is wrong with them."""

from __future__ import annotations

import pytest

from trainyard.base.documents.comments import LAST
from trainyard.judge.checks.ignores.comments import read

NOTE = "# trainyard: ignore gpu-shm: tried it"
ON = {
    "the line that it ends": (f"a: 1\nb: 2  {NOTE}\nc: 3\n", [(2, 2)]),
    "the line below it": (f"a: 1\n{NOTE}\nb: 2\n", [(3, 3)]),
    "the line below blank lines and other comments": (f"a: 1\n  {NOTE}\n\n# why\nb: 2\n", [(5, 5)]),
    "the document that it opens": (f"{NOTE}\na: 1\nb: 2\n---\nc: 3\n", [(1, 3)]),
    "a line of a text with a tag": (f"a: !!str  {NOTE}\n  b\n", [(1, 1)]),
    "the document behind its separator": (f"a: 1\n---\n{NOTE}\nb: 2\nc: 3\n", [(3, 5)]),
    "the file, in front of its first separator": (f"# licence\n{NOTE}\n---\na: 1\n---\nb: 2\n", [(1, LAST)]),
    "nothing, where nothing follows": (f"a: 1\n{NOTE}\n", [(2, 2)]),
    "nothing, alone between two documents": (f"a: 1\n---\n{NOTE}\n---\nb: 2\n", [(3, 3)]),
    "the line below, with the line ends of Windows": (f"a: 1\r\n{NOTE}\r\nb: 2\r\n", [(3, 3)]),
    "the document below a byte order mark": (f"\ufeff{NOTE}\na: 1\n", [(1, 2)]),
    "the line of an anchor": (f"a: &x  {NOTE}\n  b: 1\nc: *x\n", [(1, 1)]),
    "the line of an opened block text": (f"a: |  {NOTE}\n  text\n", [(1, 1)]),
    "the line below a block text": (f"a: |\n  text\n{NOTE}\nb: 1\n", [(4, 4)]),
    "a line of a flow": (f"a: [1,  {NOTE}\n  2]\n", [(1, 1)]),
    "the line that another comment ends": (f"a: 1  # noqa {NOTE}\n", [(1, 1)]),
    "a line behind letters that are no ASCII": (f'a: "ééé# x"\nb: 2  {NOTE}\n', [(2, 2)]),
}


@pytest.mark.parametrize(("text", "lines"), ON.values(), ids=ON)
def test_a_comment_counts_on_its_lines(text, lines):
    """A comment is for its line, the next line, its document or its file."""
    comments, wrong = read("a.yaml", text.encode())
    assert [(comment.first, comment.last) for comment in comments] == lines
    assert [(comment.rules, comment.reason) for comment in comments] == [(("gpu-shm",), "tried it")] * len(lines)
    assert wrong == []


def test_a_file_may_be_utf16():
    """Comments are found in every encoding that is read."""
    comments, _ = read("a.yaml", f"a: 1  {NOTE}\n".encode("utf-16"))
    assert [comment.first for comment in comments] == [1]


NONE = {
    "a block text": f"a: |\n  x\n  {NOTE}\nb: 1\n",
    "a folded block text": f"a: >-\n  {NOTE}\n\n  {NOTE}\n",
    "a text in double quotes": f'a: "x\n  {NOTE}\n  y"\n',
    "a text in single quotes": f"a: 'x {NOTE}'\n",
    "a key": f'"{NOTE}": 1\n',
    "a plain text without a blank before it": f"a: x{NOTE}\n",
    "JSON": '{"a": "x ' + NOTE + '"}\n',
    "a document that is no YAML": f"a: [1\n{NOTE}\nb: 2\n",
    "prose that names Trainyard": "a: 1  # trainyard: see the docs\n",
    "prose about what it does": "a: 1  # trainyard ignores this file, and trainyard ignored it before\n",
    "a script in an argument": f"args:\n- -c\n- |\n  #!/bin/sh\n  {NOTE}\n  true\n",
}


@pytest.mark.parametrize("text", NONE.values(), ids=NONE)
def test_a_text_is_no_comment(text):
    """What stands in a value is never a comment, whatever it looks like, and neither is prose."""
    assert read("a.yaml", text.encode()) == ([], [])


WRONG = {
    "without a reason": ("# trainyard: ignore a", "comment gives no reason; write # trainyard: ignore a: REASON"),
    "with a blank reason": ("# trainyard: ignore a, b:  ", "comment gives no reason; write # trainyard: ignore a, b:"),
    "without a rule": ("# trainyard: ignore : why", "comment names no rule; write # trainyard: ignore RULE: REASON"),
    "with two rules without a comma": ("# trainyard: ignore a b: why", "comment names no rule; write"),
    "without the first colon": (
        "# trainyard ignore a: why",
        "comment has no ':' behind 'trainyard', so it has no effect",
    ),
    "with a misspelt word": ("#trainyard: ignor a: why", "comment says 'ignor', which has no effect; write"),
}


@pytest.mark.parametrize(("comment", "message"), WRONG.values(), ids=WRONG)
def test_a_comment_without_effect_is_reported_at_its_place(comment, message):
    """A comment that ignores nothing, though somebody meant it, is an error with line and column."""
    comments, [finding] = read("a.yaml", f"a: 1\n  {comment}\n".encode())
    assert (comments, str(finding.location), finding.is_error) == ([], "a.yaml:2:3", True)
    assert finding.message.startswith(message)


def test_the_narrowest_comment_comes_first():
    """Of two comments on a line the narrower one is used, so that the wider one is told if nothing needs it."""
    comments, _ = read("a.yaml", f"{NOTE}\na: 1  {NOTE}\n".encode())
    assert [comment.width for comment in comments] == [0, 1]


def test_several_rules_share_a_reason():
    """Rules in a comment are separated by commas; a reason may have colons of its own."""
    [comment], _ = read("a.yaml", b"a: 1 # trainyard: ignore gpu-shm,core/pod , ft-ttl-zero: see: here\n")
    assert (comment.rules, comment.reason) == (("gpu-shm", "core/pod", "ft-ttl-zero"), "see: here")
