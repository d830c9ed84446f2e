"""`trainyard node replay` answers cases from files and from standard input."""

from __future__ import annotations

import io
import json
import sys
from types import SimpleNamespace
from unittest import mock

from command import call

CASE = """\
name: {name}
node: {{numa: [{{cores: 4, memory: 8Gi}}]}}
pods:
- {{metadata: {{name: a}}, spec: {{containers: [{{name: c, resources: {{limits: {{cpu: 2, memory: 1Gi}}}}}}]}}}}
"""


def test_cases_of_files_are_answered_in_their_order(tmp_path):
    """Each document of each file makes one line of JSON."""
    (tmp_path / "a.yaml").write_text(CASE.format(name="one") + "---\n" + CASE.format(name="two"))
    (tmp_path / "b.json").write_text('{"name": "three", "node": {"numa": [{"cores": 1}]}}\n')
    done = call(tmp_path, "node", "replay", "a.yaml", "b.json")
    assert done.returncode == 0
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["name"] for answer in answers] == ["one", "two", "three"]
    assert answers[0]["pods"] == [
        {"pod": "a", "outcome": "admitted", "qos": "Guaranteed", "containers": [{"name": "c"}]}
    ]


def test_cases_come_from_standard_input(tmp_path):
    """Without a file, JSON documents are read, one a line."""
    line = json.dumps({"name": "x", "node": {"numa": [{"cores": 1, "memory": "1Gi"}]}})
    given = SimpleNamespace(buffer=io.BytesIO(f"{line}\n{line}\n".encode()))
    with mock.patch.object(sys, "stdin", given):
        done = call(tmp_path, "node", "replay")
    assert [json.loads(one_line)["allocatable"]["cpu"] for one_line in done.stdout.splitlines()] == ["1", "1"]


def test_what_cannot_be_read_ends_with_an_error(tmp_path):
    """A document that is no YAML is said with its line; a case that cannot be is answered with an error."""
    (tmp_path / "a.yaml").write_text("name: a\nnode: {")
    done = call(tmp_path, "node", "replay", "a.yaml")
    assert done.returncode == 1
    assert "a.yaml:" in done.stderr
    (tmp_path / "b.yaml").write_text("name: b\n")
    done = call(tmp_path, "node", "replay", "b.yaml")
    assert (done.returncode, json.loads(done.stdout)) == (1, {"name": "b", "error": "node is no map; write its fields"})
