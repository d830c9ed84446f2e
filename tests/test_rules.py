"""Every finding has a rule that is declared, and every rule says what it asks, why, what helps and where it is from."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path

import pytest

from conftest import ROOT
from sources import package
from tool import tool
from trainyard.base import catalogue
from trainyard.base.documents import load
from trainyard.base.findings import Location, Severity
from trainyard.base.rules import Rule
from trainyard.base.system.data import PACKAGE, policy_files
from trainyard.specs.sources import Source

MAKERS = {
    "base/rules.py": "a rule makes its own findings",
    "upstream/apiserver/judge.py": "a problem of the verdict carries the id of its rule",
    "base/findings.py": "what was remembered is read back",
}
"""Modules that may make a finding by hand, and why."""

FAMILIES = ("cel", "core", "decode", "meta", "pairing", "pod-security", "run", "schema", "spec", "update", "values")
ID = re.compile(rf"(?:{'|'.join((*FAMILIES, 'webhook'))})/[a-z0-9-]+")
OF_NO_FINDING = {"cel/library": "a folder"}
CONSTRUCTED = re.compile(r"\bFinding\(")
ENTRIES = catalogue.entries(ROOT)


def test_only_rules_make_findings() -> None:
    """No finding is put together by hand, so none is without a rule."""
    makers = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if CONSTRUCTED.search(path.read_text("utf-8").replace("class Finding(", ""))
    }
    assert makers == set(MAKERS)


def test_rules_of_one_id_differ_in_their_source_alone() -> None:
    """Several checks may share an id, so whichever of their rules is found first says the same."""
    found = [rule for module in catalogue.modules() for rule in catalogue.of_module(module)]
    assert len({str(without_source(rule)) for rule in found}) == len({rule.id for rule in found})


def without_source(rule: Rule) -> dict[str, object]:
    """Return the fields of a rule but for where it is from."""
    return {**asdict(rule), "source": ""}


def test_a_rule_is_found_by_its_id_as_in_the_list_of_all() -> None:
    """What a waiver names is looked for alone, and is the rule that the catalogue has; what is none is not found."""
    named = [*sorted(ENTRIES)[::20], "spec/waive", "lws-no-end"]
    for id_ in named:
        rule = catalogue.rule_of(id_, policy_files(ROOT))
        assert rule is not None, id_
        assert without_source(rule) == without_source(ENTRIES[id_].rule)
    assert [catalogue.rule_of(id_, policy_files(ROOT)) for id_ in ("", "no-such-rule", "\ud800")] == [None, None, None]


def test_every_id_in_the_code_is_declared() -> None:
    """Whatever looks like a rule's id in a text of the package is one of the catalogue."""
    named = {text for module in package().values() for text in module.texts if ID.fullmatch(text)}
    assert named - set(OF_NO_FINDING) <= set(ENTRIES)


def test_every_finding_that_a_test_shows_is_declared() -> None:
    """The reports that were reviewed name no rule that the catalogue lacks."""
    shown = {
        match[1]
        for path in (ROOT / "tests").rglob("*.txt")
        for match in re.finditer(
            r"(?: \[|^\S+:\d+:\d+ )([a-z][a-z0-9/-]+)(?:, frozen)?\]?$", path.read_text("utf-8"), re.MULTILINE
        )
    }
    assert len(shown) > 70
    assert shown <= set(ENTRIES)


def test_every_rule_says_all_that_is_asked_of_it() -> None:
    """Title, why, fix and source are there; the title is a sentence, the others go on from one."""
    for id_, entry in ENTRIES.items():
        rule = entry.rule
        assert rule.title.endswith("."), id_
        assert rule.title[0].isupper() or rule.title.startswith(
            ("activeDeadline", "borrowWithin", "minNodes", "mpirun", "pfNames")
        ), id_
        assert all(entry.sources), id_
        for text in (rule.why, rule.fix):
            assert text or id_ == "policy/admission", id_
            assert not text.endswith("."), id_
        assert "/" not in id_ or id_.split("/", maxsplit=1)[0] in {rule.layer, "pod-security", "run", "spec"}, id_


def test_ids_are_told_apart() -> None:
    """Checks that share an id ask the same: the same weight, and the same title."""
    seen: dict[str, Rule] = {}
    for module in catalogue.modules():
        for rule in catalogue.of_module(module):
            first = seen.setdefault(rule.id, rule)
            assert (rule.title, rule.severity, rule.layer) == (first.title, first.severity, first.layer), rule.id


def test_a_rule_that_never_warns_makes_no_warning() -> None:
    """A warning that nobody can waive would stay for ever."""
    place = Location("a.yaml")
    rule = Rule("spec/x", "T.", "w", "f", "s")
    with pytest.raises(ValueError, match="never warns"):
        rule.of(place, "m", severity=Severity.WARNING)
    assert rule.of(place, "m").is_error


def test_every_finding_spells_a_field_alike() -> None:
    """Indices and odd keys stand in brackets, whichever rule speaks of them."""
    documents, _ = load(b"{}", file="a.yaml")
    rule = Rule("spec/x", "T.", "w", "f", "s")
    path = ("pools", "a", "labels", "example.com/zone", 0)
    assert rule.at(Source("a.yaml", documents[0]), path, "m").path == 'pools.a.labels["example.com/zone"][0]'


def test_what_is_generated_from_the_rules_is_fresh() -> None:
    """`make docs` has nothing to write."""
    done = tool("docs.py", "--check")
    assert done.returncode == 0, done.stderr


def test_a_policy_of_the_repository_is_a_rule(tmp_path: Path) -> None:
    """It is known by its file's name, with what its docstring says."""
    (tmp_path / "policies").mkdir()
    text = '"""Jobs have an owner.\n\nWhy: nobody else can be asked.\nFix: add one.\nSource: ours.\n"""\n'
    (tmp_path / "policies" / "own_owner.py").write_text(f"{text}SEVERITY = Severity.WARNING\n", encoding="utf-8")
    rule = catalogue.entries(tmp_path)["own-owner"].rule
    assert (rule.title, rule.severity, rule.waivable) == ("Jobs have an owner.", Severity.WARNING, True)
