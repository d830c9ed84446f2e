"""Checks are found in the folders of what they look at, and asked after those that they come after."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import recipes
from conftest import ROOT
from make import make_cluster, make_source
from trainyard.judge.preflight import between, cluster, job, subjects, team
from trainyard.judge.preflight.declared import Check, Look, Subject, checks_in, ordered
from trainyard.judge.preflight.subjects import CLUSTER

FOLDERS: dict[str, ModuleType] = {"job": job, "cluster": cluster, "team": team, "between": between}
ALL = [value for value in vars(subjects).values() if isinstance(value, Subject)]

DECLARED = re.compile(r"^@[A-Z_]+\.check\([^@]*?^def (\w+)", re.MULTILINE)

MODULE = """
from trainyard.base.findings import Severity
from trainyard.judge.preflight.declared import ALL
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.base.rules import Rule

RULE = Rule("spec/test", "a test", "it is one", "nothing", "here", may_warn=True)


"""
CHECK = '''@CLUSTER.check({declared})
def {name}(cluster, source):
    """Yield {name}."""
    yield RULE.at(source, (), "{name}", severity=Severity.{weight})
'''
INSTEAD = CHECK.replace("@CLUSTER.check({declared})\n", "").format(name="instead", weight="WARNING")


@pytest.fixture
def add(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[object]:
    """Return a function that puts a module with such checks into the folder of clusters' checks."""

    def put(name: str, *checks: tuple[str, str, str]) -> None:
        texts = [CHECK.format(name=item, declared=declared, weight=weight) for item, declared, weight in checks]
        recipes.put(tmp_path, cluster, f"{name}.py", "\n\n".join((MODULE + INSTEAD, *texts)), monkeypatch)

    with recipes.fresh(checks_in, ordered):
        yield put


def asked() -> list[str]:
    """Return the findings of the checks that a test added on a cluster, in the order in which they ran."""
    look = Look()
    look.ask(CLUSTER, make_cluster(), make_source("platform/clusters/test.yaml", {}))
    return [finding.message for finding in look.findings if finding.rule == "spec/test"]


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_module_is_left_out(folder):
    """Every function that a module declares to be a check is asked of its subject."""
    declared = {
        f"{path.stem}.{name}"
        for path in (ROOT / "platform/trainyard/judge/preflight" / folder).glob("*.py")
        for name in DECLARED.findall(path.read_text(encoding="utf-8"))
    }
    found = [check.name for subject in ALL if subject.folder == folder for check in subject.checks()]
    assert declared
    assert sorted(found) == sorted(declared)


def test_checks_in_a_circle_are_a_mistake(add):
    """Of two that come after each other none could be asked."""
    add("aaa", ("first", 'after=("zzz",)', "WARNING"))
    add("zzz", ("second", 'after=("aaa.first",)', "WARNING"))
    with pytest.raises(ValueError, match="cycle"):
        asked()


def test_what_is_presumed_to_hold_is_looked_at_before(add):
    """A check is asked after the one that it names, whatever their modules are called."""
    add("aaa", ("first", 'after=("zzz.second",)', "WARNING"), ("last", "after=(ALL,)", "WARNING"))
    add("zzz", ("second", "", "WARNING"), ("third", "", "WARNING"))
    assert asked() == ["second", "third", "first", "last"]


def test_where_it_does_not_hold_the_check_is_left_out(add):
    """An error leaves out what comes after it and after all; another function is asked where one is named."""
    add("aaa", ("first", 'after=("zzz",)', "ERROR"), ("last", "after=(ALL,)", "ERROR"))
    add("bbb", ("other", 'after=("zzz.second",), otherwise=instead', "ERROR"), ("beside", "", "ERROR"))
    add("zzz", ("second", "", "ERROR"))
    assert asked() == ["beside", "second", "instead"]


def test_a_name_that_no_check_has_is_a_mistake(add):
    """A check that would come after nothing would be asked too early, in silence."""
    add("zzz", ("second", 'after=("inventry",)', "ERROR"))
    with pytest.raises(ValueError, match=r"zzz\.second comes after 'inventry', which is none; did you mean"):
        asked()


def test_a_check_in_a_folder_of_another_subject_is_a_mistake(tmp_path, monkeypatch):
    """Nobody would ask it."""
    text = MODULE + CHECK.format(name="lost", declared="", weight="ERROR")
    recipes.put(tmp_path, job, "zzz.py", text, monkeypatch)
    with recipes.fresh(checks_in, ordered), pytest.raises(ValueError, match="in folder job, but must be in cluster"):
        subjects.JOB.checks()


def test_a_check_is_called_as_its_function():
    """Tests and other checks call it as if nothing were declared."""
    check = CLUSTER.checks()[0]
    assert isinstance(check, Check)
    assert list(check(make_cluster(), make_source("x.yaml", {}))) == []
