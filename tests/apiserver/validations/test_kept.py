"""Compiled rules on disk: what is restored judges like what was compiled, and nothing that is wrong there counts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from unittest import mock

import pytest

from conftest import ROOT
from trainyard.base.memory import Memory, World, code, loaded_modules
from trainyard.base.memory.code import module_stamp
from trainyard.base.system import cache, files
from trainyard.base.system.cache import Cache
from trainyard.judge.checks.result import Result
from trainyard.judge.checks.validate import strangers
from trainyard.judge.policies.kept_rules import LIMIT_BYTES, KeptRules, open_for
from trainyard.upstream.apiserver import Kind, Rulebook, catalog
from trainyard.upstream.apiserver.catalog.served import from_index

FLAVOR = b"""\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: a}
spec:
  nodeLabels: {pool: a}
  nodeTaints: [{key: a, value: b, effect: Sometimes}]
  tolerations: [{key: a, operator: Exists, value: b}]
"""
INPUTS = [("a.yaml", FLAVOR)]

UNNEEDED = (
    "cel_expr_python",
    "trainyard.upstream.apiserver.cel.parse",
    "trainyard.upstream.apiserver.cel.check",
    "trainyard.upstream.apiserver.cel.syntax",
    "trainyard.upstream.apiserver.validations.compile",
)


def judged(rulebook: Rulebook | None = None) -> Result:
    """Judge one ResourceFlavor as a process does that has compiled nothing yet."""
    from_index.cache_clear()
    return strangers(INPUTS, ROOT / "schemas", rulebook=rulebook)


@pytest.fixture
def kept(tmp_path):
    """A folder with the rules that judging one ResourceFlavor takes."""
    store = Cache(tmp_path / "trainyard" / "rules")
    judged(rulebook(store))
    return store


def rulebook(store: Cache) -> Rulebook:
    """A rulebook that a folder keeps."""
    return Rulebook(KeptRules(Memory(store, World())))


def flavor() -> Kind:
    """The kind that is judged here."""
    known, _ = catalog.load(ROOT / "schemas")
    found = known.lookup("kueue.x-k8s.io", "v1beta2", "ResourceFlavor")
    assert isinstance(found, Kind)
    return found


def entry(store: Cache) -> Path:
    """The one file in which the rules of a kind are kept."""
    (path,) = (store.folder / item.path for item in files.walk(store.folder) if not item.path.startswith("."))
    return path


def test_kept_rules_judge_alike(kept):
    """A verdict from kept rules is that of compiled ones, word for word."""
    assert entry(kept).exists()
    warm = rulebook(kept)
    result = judged(warm)
    assert result == judged()
    assert {finding.rule for finding in result.findings} >= {"cel/rule"}
    assert not any(found.shared.changed for found in warm.trees.values() if found)


def test_a_warm_run_reads_no_rule_again(kept):
    """Judging with kept rules imports neither the parser nor the type checker."""
    (kept.folder.parent.parent / "a.yaml").write_bytes(FLAVOR)
    program = (
        "import sys; from trainyard.faces.cli import main\ntry: main(['validate', 'a.yaml'])\nexcept SystemExit: pass"
    )
    command = [sys.executable, "-c", program + "\nprint(*sorted(sys.modules))"]
    place = kept.folder.parent.parent
    before = entry(kept).read_bytes()
    env = {"PYTHONPATH": str(ROOT / "platform"), "XDG_CACHE_HOME": str(place), "HOME": str(place)}
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=place, env=env)
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "trainyard.upstream.apiserver.validations.walk" in loaded
    assert not loaded & set(UNNEEDED)
    assert entry(kept).read_bytes() == before


DAMAGE = {
    "no JSON": lambda _: b"\x00",
    "another shape": lambda _: b"[1, 2]",
    "a tree of another schema": lambda kept: json.dumps(
        {**kept, "values": {"": {**kept["values"][""], "fields": {"nowhere": kept["values"][""]}}}}
    ).encode(),
    "a step that does not exist": lambda kept: json.dumps(kept).replace('"variable"', '"open"').encode(),
    "a function that does not exist": lambda kept: json.dumps(kept).replace(".FUNCTIONS ", ".OTHERS ").encode(),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_wrong_entry_is_compiled_and_kept_again(kept, damage):
    """What was kept wrongly counts for nothing and is replaced."""
    path = entry(kept)
    name, good = f"{path.parent.name}{path.name}", kept.get(f"{path.parent.name}{path.name}")
    assert good is not None
    kept.put(name, damage(json.loads(good)))
    result = judged(rulebook(kept))
    assert result == judged()
    again = kept.get(name)
    assert again is not None
    assert json.loads(again)["values"] == json.loads(good)["values"]


def test_rules_are_kept_by_content(kept):
    """Another schema, release of Kubernetes or code has no rules here."""
    kind, asked = flavor(), KeptRules(Memory(kept, World()))
    assert asked.get("34", kind.content) is not None
    assert asked.get("33", kind.content) is None
    assert asked.get("34", kind.content + b" ") is None
    for changed in ("trainyard.upstream.apiserver.cel.check", "trainyard.base.quantities"):
        assert changed in loaded_modules().split()
        with mock.patch.object(code, "module_stamp", partial(other_stamp, changed)):
            assert KeptRules(Memory(kept, World())).get("34", kind.content) is None, changed


def other_stamp(changed: str, name: str) -> str:
    """The stamp of a module, of which one is written anew."""
    return "another" if name == changed else module_stamp(name)


def test_the_folder_is_private(tmp_path, monkeypatch):
    """The folder is made for its user alone; one that others may write into, or that cannot be made, is not used."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    store = cache.private("rules")
    assert store is not None
    assert store.folder == tmp_path / "home" / "trainyard" / "rules"
    assert os.name != "posix" or store.folder.stat().st_mode & 0o777 == 0o700
    opened = open_for(tmp_path).store
    assert isinstance(opened, KeptRules)
    assert opened.memory.store == Cache(store.folder, LIMIT_BYTES)
    (tmp_path / "platform" / "clusters").mkdir(parents=True)
    assert open_for(tmp_path).store is None, "a folder inside the repository"
    if os.name == "posix":
        store.folder.chmod(0o777)
        assert cache.private("rules") is None
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert cache.private("rules") is None
    assert judged(Rulebook(None)).objects
