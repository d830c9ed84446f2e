"""Prometheus' own parser takes every rule, and its own rule tests say which alerts fire.

The program is promtool (`make oracles O=promtool`), named by TRAINYARD_PROMTOOL_ORACLE. Without it the record is read,
which has the digest of the rules and cases that passed. With --update it is written anew.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import yaml

from conftest import ROOT
from monitoring import rules
from trainyard.specs.alerts import groups

PROGRAM = os.environ.get(rules.VARIABLE)
NEEDED = pytest.mark.skipif(PROGRAM is None, reason=f"{rules.VARIABLE} names no promtool; only its record is compared")
RELEASE = "0.314.0"


@NEEDED
def test_rules_are_parsed(tmp_path):
    """Every expression is one that Prometheus parses, under default numbers and under others."""
    other = {"alerts": {"idlePercent": 0.5, "lentDays": 1}, "checkpointClaims": ["a", "b"]}
    for cluster in (rules.everything(), rules.everything(**other)):
        code, said = rules.check(PROGRAM, tmp_path, cluster)
        assert code == 0, said


@NEEDED
@pytest.mark.parametrize("case", rules.CASES, ids=lambda path: path.stem)
def test_alerts_fire(case, tmp_path):
    """Alerts fire for the series of each case and for no other, with the texts that people read."""
    code, said = rules.test(PROGRAM, tmp_path, case)
    assert code == 0, said


def test_record(request, tmp_path):
    """What passed is what there is: rules and cases have the digest that was recorded."""
    if request.config.getoption("update") and PROGRAM is not None:
        assert all(rules.test(PROGRAM, tmp_path, case)[0] == 0 for case in rules.CASES)
        known = {"promtool": RELEASE, "digest": rules.digest(), "cases": [case.name for case in rules.CASES]}
        rules.RECORDED.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    found = json.loads(rules.RECORDED.read_text(encoding="utf-8"))
    assert found["digest"] == rules.digest(), (
        "rules or cases changed since Prometheus tested them; ask it with --update"
    )


def cases() -> list[dict[str, object]]:
    """Return the tests of all files of cases."""
    return [test for path in rules.CASES for test in yaml.safe_load(path.read_text(encoding="utf-8"))["tests"]]


def test_every_alert_has_cases():
    """Each alert fires in some case, and each recorded series is read by a rule, by a case or by people."""
    fired = {one["alertname"] for test in cases() for one in test.get("alert_rule_test", []) if one["exp_alerts"]}
    named = {rule.alert for group in groups().values() for rule in group.rules if rule.alert}
    assert fired == named


def test_alerts_are_whole():
    """An alert says what is wrong and what to do, with its severity; a recorded series says what it is."""
    for group in groups().values():
        for rule in group.rules:
            if rule.alert:
                assert rule.summary
                assert rule.description
                assert rule.severity
                assert rule.hold
            else:
                assert rule.about
                assert rule.labels


@NEEDED
def test_rules_of_the_repository(tmp_path):
    """Rules as they are rendered for clusters are taken, too."""
    files = sorted(Path(ROOT / "generated").glob("*/monitoring/prometheusrule.*.yaml"))
    assert files
    for number, file in enumerate(files):
        spec = yaml.safe_load(file.read_text(encoding="utf-8"))["spec"]
        plain = tmp_path / f"{number}.yaml"
        plain.write_text(yaml.safe_dump(spec, width=1000), encoding="utf-8")
        code, said = rules.run(PROGRAM, "check", "rules", str(plain))
        assert code == 0, f"{file}: {said}"
