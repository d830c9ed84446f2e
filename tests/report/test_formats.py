"""Every format is what its readers take: checked by a schema, or by a reader of its own."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import get_args
from xml.etree import ElementTree as ET

import jsonschema
import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from trainyard.base.errors import TrainyardError
from trainyard.base.findings import Finding, Location, ObjectRef, Severity, Skipped
from trainyard.change.plan import Plan, RunEffect
from trainyard.change.plan.effects import (
    Changed,
    Decision,
    Mark,
    MarkWord,
    ObjectEffect,
    QueueRow,
    Rebuild,
    SpecChange,
    Victim,
)
from trainyard.faces.cli import _options
from trainyard.faces.report import FORMATS, View, render, require
from trainyard.faces.report.json_ import schema
from trainyard.faces.report.legible import escaped
from trainyard.faces.report.markdown import MOST
from trainyard.judge.checks.result import Change, Judged, Other, Result, Unrendered

JOB = ObjectRef("batch/v1", "Job", "nlp", "x")
NASTY = 'say "50%: a, b"\r\n::error::no | *b* <i>@all</i> `c` \x1b[31m \x00 ü 中'
"""What might be read as a mark by any of the formats."""

ODD = "jobs/ü nlp/a,b:c%d.yaml"
"""A file that nobody should call so."""

PAGES = "https://docs.example.com/rules"


def found(**more: object) -> Finding:
    """Return a finding that stands in for any."""
    values = {
        "rule": "spec/form", "layer": "spec", "message": "nodes is 0; ask for 1", "location": Location("a.yaml", 2, 3)
    }  # fmt: skip
    return Finding(**(values | more))  # type: ignore[arg-type]


FINDINGS = (
    found(),
    found(message=NASTY, location=Location(ODD, 3, 1), fix=NASTY, path="env.A", object=JOB),
    found(rule="kq-max-quota", severity=Severity.WARNING, layer="queueing", frozen=True, remedy="ask for less"),
    found(rule="own/policy-of-somebody", location=Location("platform/clusters/a.yaml"), layer="policy"),
    found(
        location=Location("generated/a/runs/nlp/x/job.x.yaml", 40, 9, 0),
        spec=Location("jobs/nlp/x.yaml", 7, 1),
        object=JOB,
        path="spec.template",
    ),
)


def everything() -> Result:
    """Return a result that has some of all."""
    objects = [Judged("a.yaml", 0, JOB, "valid"), Judged("b.yaml", 0, JOB, "unknown"), Judged("c", 0, JOB, "invalid")]
    return Result(objects, list(FINDINGS), [Skipped("schema", "no types are here")], [NASTY])


RESULTS = {"nothing": Result(), "some of all": everything()}


@pytest.mark.parametrize("format_", FORMATS)
def test_every_format_has_every_finding(format_: str) -> None:
    """No format leaves a finding out, a warning included, or stumbles over an empty result."""
    text = render(everything(), format_, View(pages=PAGES))
    for rule in {finding.rule for finding in FINDINGS}:
        assert rule in text
    assert render(Result(), format_).endswith("\n")


HOSTILE = "a\n::error::b\r\x1b[2J\x9b1m\u202e\u2028\udcff\ufeff\tü 中"
STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("more", [{}, {"summary": True}])
def test_nothing_that_is_named_steers_a_terminal(format_: str, more: dict[str, bool]) -> None:
    """Names, sentences, paths, files and notes begin no line of their own and hold no control, in any format."""
    thing = ObjectRef("v1", HOSTILE, HOSTILE, HOSTILE)
    place = Location(HOSTILE, 1, 1)
    hostile = found(rule=HOSTILE, message=HOSTILE, location=place, spec=place, fix=HOSTILE, path=HOSTILE, object=thing)
    result = Result(
        findings=[hostile] * 12,
        objects=[Judged(HOSTILE, 0, thing, "unknown")],
        skipped=[Skipped(HOSTILE, HOSTILE)],
        notes=[HOSTILE],
        changes=[Change("added", HOSTILE, 0, thing, fields=(HOSTILE,), why=HOSTILE)],
        passed=Counter({HOSTILE: 1}),
        unrendered=[Unrendered("helm", HOSTILE)],
        others=[Other(HOSTILE, HOSTILE)],
    )
    run = RunEffect("starts", "a", HOSTILE, HOSTILE, HOSTILE, HOSTILE, because=(Changed(HOSTILE, HOSTILE),))
    run = replace(run, marks=tuple(Mark(word, HOSTILE, HOSTILE) for word in get_args(MarkWord)), spec=HOSTILE)
    row = QueueRow(HOSTILE, HOSTILE, HOSTILE, HOSTILE, 1, 2)
    gone = Victim(HOSTILE, HOSTILE, HOSTILE, "some", 7.0)
    decision = Decision(HOSTILE, HOSTILE, HOSTILE, HOSTILE, None, "waits for", HOSTILE, (gone,))
    change = SpecChange(HOSTILE, ("a",), HOSTILE, HOSTILE, HOSTILE)
    effect = ObjectEffect("changes", "a", HOSTILE, thing, (HOSTILE,))
    plan = Plan(
        "abc", live=True, runs=(run,), objects=(effect,), platform=(change,), queues=(row,), findings=(hostile,)
    )
    plan = replace(plan, dangers=(HOSTILE,), decisions=(decision,))
    view = View(plan=plan, lines=lambda name: ["\x1b[2J\u202e"] if name == HOSTILE else [], **more)
    text = render(result, format_, view)
    assert not STEERING.search(text)
    assert not re.search("^[^a-z]*::error::b", text, re.MULTILINE)
    assert "ü 中" in text or more
    text.encode()


@pytest.mark.parametrize("format_", ["json", "sarif"])
def test_what_programs_read_is_as_it_was(format_: str) -> None:
    """In JSON a sentence comes back as it was found, as its escapes are JSON's own."""
    text = render(Result(findings=[found(message=HOSTILE)]), format_)
    log = json.loads(text)
    message = log["findings"][0]["message"] if format_ == "json" else log["runs"][0]["results"][0]["message"]["text"]
    assert message == HOSTILE


def test_the_line_of_an_oddly_named_file_is_shown() -> None:
    """A file is found by its own name, though it is shown with escapes."""
    view = View(lines=lambda name: ["nodes: 0"] if name == HOSTILE else [])
    assert "nodes: 0" in render(Result(findings=[found(location=Location(HOSTILE, 1, 1))]), "text", view)


def test_help_names_all_formats() -> None:
    """What `--help` shows is what there is."""
    assert "|".join(FORMATS) == _options.FORMATS


def test_a_format_that_is_not_there_is_named() -> None:
    """A misspelt format ends before the work, with the one that was meant."""
    with pytest.raises(TrainyardError, match="did you mean 'sarif'"):
        require("sarf")


@pytest.mark.parametrize("result", RESULTS.values(), ids=RESULTS)
def test_sarif_is_as_its_standard_says(result: Result) -> None:
    """A log is as SARIF 2.1.0 has it, and every result finds its rule by name and by number."""
    log = json.loads(render(result, "sarif", View(pages=PAGES)))
    checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
    restated = json.loads((Path(__file__).parent / "sarif.json").read_text())
    jsonschema.Draft202012Validator(restated, format_checker=checker).validate(log)
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rules[one_result["ruleIndex"]]["id"] for one_result in run["results"]] == [
        one_result["ruleId"] for one_result in run["results"]
    ]
    assert len(run["results"]) == len(result.findings)


def test_sarif_leads_to_the_line_that_a_person_edits() -> None:
    """What is found in generated files stands at the spec, with the generated line beside it."""
    results = json.loads(render(everything(), "sarif"))["runs"][0]["results"]
    (one,) = [result for result in results if "relatedLocations" in result]
    places = [location["physicalLocation"] for location in (*one["locations"], *one["relatedLocations"])]
    assert [place["artifactLocation"]["uri"].partition("/")[0] for place in places] == ["jobs", "generated"]
    assert [place["region"]["startLine"] for place in places] == [7, 40]


def test_sarif_knows_a_result_again() -> None:
    """Lines that come before a finding do not make it another; another field does."""

    def mark(**more: object) -> str:
        log = json.loads(render(Result(findings=[found(**more)]), "sarif"))
        return str(log["runs"][0]["results"][0]["partialFingerprints"])

    assert mark(path="nodes") == mark(path="nodes", location=Location("a.yaml", 90, 3), message="nodes is -1")
    assert mark(path="nodes") != mark(path="roles.ps.nodes")


COUNTS = {"tests", "failures", "errors"}
CASE = {"classname", "name", "file", "line"}


def cases(text: str) -> Iterator[tuple[str, str, ET.Element]]:
    """Read JUnit's XML as Jenkins and GitLab do: yield name, outcome and element of every case; refuse what is none."""
    top = ET.fromstring(text.encode())
    assert (top.tag, set(top.attrib)) == ("testsuites", {"name", *COUNTS})
    for suite in top:
        assert (suite.tag, set(suite.attrib)) == ("testsuite", {"name", "skipped", *COUNTS})
        outcomes = []
        for case in suite:
            assert case.tag == "testcase"
            assert {"classname", "name"} <= set(case.attrib) <= CASE
            assert [item.tag for item in case] in (["failure"], ["skipped"], ["system-out"], [])
            outcomes.append(next((item.tag for item in case if item.tag != "system-out"), "passed"))
            yield case.attrib["name"], outcomes[-1], case
        assert int(suite.attrib["tests"]) == len(outcomes) > 0
        assert int(suite.attrib["failures"]) == outcomes.count("failure")
        assert int(suite.attrib["skipped"]) == outcomes.count("skipped")


def test_junit_reads_back() -> None:
    """Errors fail, warnings only where they are strict, right objects pass, unknown ones are skipped."""
    plain = [outcome for _, outcome, _ in cases(render(everything(), "junit"))]
    strict = [outcome for _, outcome, _ in cases(render(everything(), "junit", View(strict=True)))]
    assert (plain.count("failure"), plain.count("passed"), plain.count("skipped")) == (4, 2, 1)
    assert (strict.count("failure"), strict.count("passed")) == (5, 1)
    assert [outcome for _, outcome, _ in cases(render(Result(), "junit"))] == ["passed"]


def test_junit_holds_any_text() -> None:
    """Characters that XML has no room for are escapes, all others come back as they were."""
    (said,) = [case.find("failure") for name, _, case in cases(render(everything(), "junit")) if ODD in name]
    assert said is not None
    assert said.attrib["type"] == "spec/form"
    assert 'say "50%: a, b"' in (said.text or "")
    assert "\\x1b[31m \\x00" in (said.text or "")
    assert "ü 中" in (said.text or "")


ANNOTATION = re.compile(r"::(error|warning|notice) ([^:\n]*)::(.*)")


def annotations(text: str) -> list[tuple[str, dict[str, str], str]]:
    """Read workflow commands as the runner does (actions/runner src/Runner.Common/ActionCommand.cs)."""
    found = []
    for line in text.removesuffix("\n").split("\n"):
        match = ANNOTATION.fullmatch(line)
        assert match, line
        named = dict(pair.split("=", 1) for pair in match[2].split(","))
        found.append((match[1], {key: unescaped(value) for key, value in named.items()}, unescaped(match[3])))
    return found


def unescaped(text: str) -> str:
    """Turn the runner's escapes back; a percent sign comes last, or it would make others."""
    for code, char in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, char)
    return text


def test_annotations_read_back() -> None:
    """The runner gets file, line, column, title and sentence, whatever they hold, with no character that steers."""
    found = annotations(render(everything(), "github", View(pages=PAGES)))
    assert [kind for kind, _, _ in found] == ["error"] * 4 + ["warning", "notice"]
    (odd,) = [(named, text) for _, named, text in found if named.get("file") == ODD]
    assert (odd[0]["line"], odd[0]["col"], odd[0]["title"]) == ("3", "1", "spec/form")
    assert odd[1].startswith(escaped(NASTY))
    assert odd[1].endswith(f"{PAGES}#specform")
    assert ("jobs/nlp/x.yaml", "7") in [(named.get("file"), named.get("line")) for _, named, _ in found]


def rows(text: str) -> list[list[str]]:
    """Return the cells of the tables in a Markdown text, as a reader of GitHub's flavour sees them."""
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(text)
    table: list[list[str]] = []
    for token in tokens:
        if token.type == "table_close":
            break
        if token.type == "tr_open":
            table.append([])
        elif token.type == "inline" and table:
            parts = token.children or []
            assert not [part for part in parts if part.type == "html_inline" and part.content != "<br>"]
            table[-1].append("".join(map(shown, parts)))
    return table


def shown(token: Token) -> str:
    """Return what a reader sees of a part of a line: code between backticks."""
    return {"softbreak": "\n", "code_inline": f"`{token.content}`"}.get(token.type, token.content)


def test_markdown_is_a_table_that_nothing_breaks() -> None:
    """Every finding is a row of four cells, errors first; no text in it is read as a mark, or calls anybody."""
    text = render(everything(), "markdown", View(pages=PAGES))
    head, *table = rows(text)
    assert head == ["", "where", "what", "rule"]
    assert [row[0] for row in table] == ["error"] * 4 + ["warning, frozen"]
    assert all(len(row) == 4 for row in table)
    assert any("::error::no | *b* <i>@all</i> `c`" in row[2] for row in table)
    assert "@" not in text
    assert f"]({PAGES}#kq-max-quota)" in text


def test_code_in_sentences_is_code_in_markdown() -> None:
    """Commands between backticks are code, in findings, fixes and plans; other backticks stand as they are."""
    one = found(message="run `trainyard synth --check` of `a|b`, ``c`` or `d", fix="`trainyard new` it")
    plan = Plan("abc", live=True, rebuild=Rebuild(2, 16))
    text = render(Result(findings=[one]), "markdown", View("plan", plan=plan))
    (cell,) = (row[2] for row in rows(text)[1:])
    assert cell == "run `trainyard synth --check` of `a|b`, ``c`` or `d<br>fix: `trainyard new` it"
    code = [
        child.content
        for token in MarkdownIt("commonmark", {"html": True}).enable("table").parse(text)
        for child in token.children or []
        if child.type == "code_inline"
    ]
    assert {"trainyard synth --check", "trainyard new", "trainyard retire --finished"} <= set(code)
    assert not {"a|b", "c"} & set(code)


def test_markdown_fits_a_comment() -> None:
    """What is too long for a comment is counted, and the plan stands behind it whole."""
    plan = Plan("abc", live=True, runs=(RunEffect("starts", "a", "nlp", "x", "x-abc", "JobSet of 2 pods"),))
    many = Result(findings=[found(location=Location(f"jobs/{number}.yaml", 1, 1)) for number in range(3000)])
    text = render(many, "markdown", View("plan", plan=plan))
    assert len(text) <= MOST + 500
    assert re.search(r"and \d+ more", rows(text)[-1][2])
    assert "starts: x-abc" in text


def test_a_plan_is_data_too() -> None:
    """In JSON a plan has its effects beside the findings, as the report's schema says."""
    plan = Plan(
        "abc", live=True, runs=(RunEffect("starts", "a", "nlp", "x", "x-abc", because=(Changed("nodes", "1", "2"),)),)
    )
    report = json.loads(render(everything(), "json", View("plan", plan=plan)))
    jsonschema.validate(report, schema())
    assert report["plan"]["refused"] is False
    assert report["plan"]["runs"][0]["because"] == [{"field": "nodes", "before": "1", "after": "2"}]
    assert "beforeCluster" in report["plan"]["runs"][0]
