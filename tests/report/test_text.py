"""The report on a terminal: the line and a mark below it, colours where they are wanted, never what is secret."""

from __future__ import annotations

import re
from dataclasses import replace
from io import StringIO

import pytest

from trainyard.base.findings import Finding, Location, Severity
from trainyard.faces.cli._findings import coloured
from trainyard.faces.report import View, render
from trainyard.judge.checks.result import Result

FOUND = Finding("spec/form", "spec", "nodes is 0; ask for 1", Location("a.yaml", 2, 8))


def shown(line: str, column: int, **more: object) -> list[str]:
    """Return the lines of the report below the sentence, of a finding at a column of a line."""
    finding = replace(FOUND, location=Location("a.yaml", 2, column), **more)  # type: ignore[arg-type]
    view = View(lines=lambda name: ["# first", line] if name == "a.yaml" else ())
    return render(Result(findings=[finding]), "text", view).split("\n\n")[0].splitlines()[1:]


MARKED = {
    "a number": ("nodes: 0  # none", 8, "nodes: 0  # none", "       ^"),
    "a key": ("  gpuPerNode: 8", 3, "  gpuPerNode: 8", "  ^^^^^^^^^^"),
    "a quoted text": ('image: "a b"', 8, 'image: "a b"', "       ^^^^^"),
    "behind wide characters": ("x: [中文, 0]", 9, "x: [中文, 0]", "          ^"),
    "behind a tab": ("\tx: 0", 5, "    x: 0", "       ^"),
    "behind the end": ("x:", 3, "x:", "  ^"),
    "what would steer the terminal": ("x: \x1b[31m\u202eab", 4, "x: \ufffd", "   ^"),
}


@pytest.mark.parametrize(("line", "column", "text", "mark"), MARKED.values(), ids=MARKED)
def test_the_mark_stands_below_what_is_meant(line: str, column: int, text: str, mark: str) -> None:
    """The line is shown as it is, and the mark below the word at the column."""
    first, second = shown(line, column)
    assert first.startswith(f"     2 | {text}")
    assert second.startswith(f"       | {mark}")
    assert "\x1b" not in first


def test_a_long_line_is_cut_around_the_mark() -> None:
    """Of a line that is too long the part around the place is shown, with dots where it goes on."""
    first, second = shown("a" * 300 + " bad " + "c" * 300, 302)
    line, mark = first[9:], second[9:]
    assert line[mark.index("^") : mark.rindex("^") + 1] == "bad"
    assert (line[0], line[-1], len(line)) == ("…", "…", 100)


NOTHING = {
    "the finding hides it": (2, {"hide": True}),
    "the file has no such line": (9, {}),
    "the line is not known": (None, {}),
}


@pytest.mark.parametrize(("line", "more"), NOTHING.values(), ids=NOTHING)
def test_no_line_is_shown_where(line: int | None, more: dict[str, object]) -> None:
    """A sentence stands alone where its line is secret or not there."""
    finding = replace(FOUND, location=Location("a.yaml", line, 8 if line else None), **more)  # type: ignore[arg-type]
    text = render(Result(findings=[finding]), "text", View(lines=lambda _: ["", "token: hf_secret"]))
    assert " | " not in text
    assert "hf_secret" not in text


def test_another_finding_does_not_show_what_one_hides() -> None:
    """Where one finding hides a line, no other shows it."""
    findings = [FOUND, replace(FOUND, rule="spec/secret", hide=True)]
    assert "hf_secret" not in render(Result(findings=findings), "text", View(lines=lambda _: ["", "x: [hf_secret]"]))


def test_colours_change_nothing_but_colours() -> None:
    """Without its escapes a coloured report is the plain one."""
    view = View(lines=lambda _: ["", "nodes: 0"], pages="https://docs.example.com/rules")
    plain, bright = (render(Result(findings=[FOUND]), "text", replace(view, colour=item)) for item in (False, True))
    assert re.sub(r"\x1b\[[0-9;]*m|\x1b\]8;;.*?\x1b\\", "", bright) == plain
    assert "\x1b]8;;https://docs.example.com/rules#specform\x1b\\spec/form" in bright


class Terminal(StringIO):
    """What says that it is a terminal."""

    def isatty(self) -> bool:
        """Say so."""
        return True


WANTED = {
    "a terminal": (True, {}, True),
    "a pipe": (False, {}, False),
    "a terminal of old": (True, {"TERM": "dumb"}, False),
    "a terminal of somebody who wants none": (True, {"NO_COLOR": "1"}, False),
    "an empty NO_COLOR": (True, {"NO_COLOR": ""}, True),
    "a pipe that wants them": (False, {"FORCE_COLOR": "1"}, True),
    "a pipe that wants them by another name": (False, {"CLICOLOR_FORCE": "1"}, True),
    "FORCE_COLOR that says no": (False, {"FORCE_COLOR": "0"}, False),
    "somebody who says both": (True, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
}


@pytest.mark.parametrize(("terminal", "env", "wanted"), WANTED.values(), ids=WANTED)
def test_colours_are_for(terminal: bool, env: dict[str, str], wanted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal has colours unless the environment says otherwise, a pipe where it asks for them."""
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "CLICOLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    assert coloured(Terminal() if terminal else StringIO()) is wanted


def test_a_summary_counts_by_rule() -> None:
    """`--summary` has a line a rule, errors first, and no finding; `--quiet` has findings alone."""
    warning = replace(FOUND, rule="kq-max-quota", severity=Severity.WARNING)
    result = Result(findings=[warning, FOUND, replace(FOUND, location=Location("b.yaml", 1, 1))])
    text = render(result, "text", View(summary=True))
    assert text.splitlines() == [
        "2 error spec/form in 2 files",
        "1 warning kq-max-quota in 1 file",
        "0 objects: 2 errors, 1 warning",
    ]
    assert "objects" not in render(result, "text", View(quiet=True))
