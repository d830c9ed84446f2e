"""JUnit's XML, which GitLab, Jenkins and most others show as tests: a case for each finding and for each right object.

Source: jenkinsci/xunit-plugin src/main/resources/org/jenkinsci/plugins/xunit/types/model/xsd/junit-10.xsd
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from trainyard.base.findings import Finding, arrange
from trainyard.faces.report.below import lines_below
from trainyard.faces.report.text import PLAIN, how
from trainyard.faces.report.view import View
from trainyard.judge.checks.result import Result, place

FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML 1.0 document may have."""


def render(result: Result, view: View = PLAIN) -> str:
    """Return the report as XML; a run without anything to say is one case that passed."""
    cases = [*of_findings(result, view), *of_ignored(result), *of_objects(result)]
    if not cases:
        cases = [case(f"trainyard {view.command}", "no problems found")]
    failures = sum(one_case.find("failure") is not None for one_case in cases)
    skipped = sum(one_case.find("skipped") is not None for one_case in cases)
    counts = {"tests": str(len(cases)), "failures": str(failures), "errors": "0"}
    top = Element("testsuites", {"name": "trainyard", **counts})
    suite = SubElement(top, "testsuite", {"name": f"trainyard {view.command}", **counts, "skipped": str(skipped)})
    suite.extend(cases)
    indent(top)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(top, encoding="unicode")}\n'


def of_findings(result: Result, view: View) -> Iterator[Element]:
    """Yield the case of each finding; of what follows from another one, a case that was skipped for it."""
    for finding, followers in arrange(result.findings):
        yield of_finding(finding, view, followers)
        for item in followers:
            where = place(item)
            element = case(where.file, f"{item.rule} at {where}", where.file, where.line)
            why = f"follows from {finding.location}: {item.message}"
            SubElement(element, "skipped", {"message": clean(why)})
            yield element


def of_finding(finding: Finding, view: View, followers: Sequence[Finding] = ()) -> Element:
    """Return the case of a finding: one that failed, or, for a warning that does not fail the run, one that says so."""
    where = place(finding)
    element = case(where.file, f"{finding.rule} at {where}", where.file, where.line)
    fails = finding.is_error or view.strict
    fix = finding.fix or finding.remedy
    lines = [f"{place(finding)}: {finding.severity}: {finding.message} [{finding.rule}]"]
    lines += [f"in {', '.join(str(part) for part in (finding.object, finding.path) if part)}"] if finding.path else []
    lines += [f"fix: {fix}"] if fix else []
    lines += lines_below(finding, followers)
    if fails:
        said = SubElement(element, "failure", {"message": clean(finding.message), "type": finding.rule})
    else:
        said = SubElement(element, "system-out")
    said.text = clean("\n".join(lines))
    return element


def of_ignored(result: Result) -> Iterator[Element]:
    """Yield the cases of ignored findings, which count as skipped tests."""
    for item in sorted(result.ignored, key=lambda item: item.finding.order):
        where = place(item.finding)
        element = case(where.file, f"{item.finding.rule} at {where}", where.file, where.line)
        said = SubElement(element, "skipped", {"message": clean(f"ignored by {how(item)}")})
        said.text = clean(item.finding.message)
        yield element


def of_objects(result: Result) -> Iterator[Element]:
    """Yield the cases of objects that nothing is wrong with, and of those that nobody here knows."""
    for obj in result.objects:
        if obj.verdict != "invalid":
            element = case(obj.file, str(obj.object), obj.file)
            if obj.verdict == "unknown":
                SubElement(
                    element, "skipped", {"message": "its kind is unknown, or one of its rules cannot be checked"}
                )
            yield element


def case(group: str, name: str, file: str | None = None, line: int | None = None) -> Element:
    """Return a test case."""
    known = {"classname": group, "name": name, "file": file, "line": line}
    return Element("testcase", {key: clean(str(value)) for key, value in known.items() if value is not None})


def clean(text: str) -> str:
    """Return a text with a replacement for what XML cannot hold."""
    return FORBIDDEN.sub("\ufffd", text)
