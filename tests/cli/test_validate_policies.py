"""A policy that cannot be used is a finding beside those on the files that `validate` and `check` are given."""

from __future__ import annotations

import json

import pytest

from command import call

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, image: b, imagePullPolice: x}]}\n"


@pytest.mark.parametrize("command", ["validate", "check"])
def test_files_are_judged_beside_a_broken_policy(tmp_path, command):
    """Both are told, and the run is one with findings, not one that could not finish."""
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies/no_luck.py").write_text('"""T.\n\nWhy: w.\nFix: f.\nSource: s.\n"""\nimport nowhere\n')
    (tmp_path / "pod.yaml").write_text(POD)
    done = call(tmp_path, command, "pod.yaml", "--format", "json")
    assert done.returncode == 1, done.stderr
    found = {(finding["file"], finding["line"], finding["rule"]) for finding in json.loads(done.stdout)["findings"]}
    assert found == {("policies/no_luck.py", 7, "policy/unusable"), ("pod.yaml", 4, "schema/unknown-field")}
