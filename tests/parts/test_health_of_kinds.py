"""Every custom kind that Argo CD shows has a health script, and the scripts are right for states of real objects."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

import lua51
from conftest import ROOT
from trainyard.base.system.data import own_folder
from trainyard.render.clusters.settings import data
from trainyard.render.parts.health_of_kinds import Health, known_health

HERE = ROOT / "tests/parts"
RECORDED = ROOT / "tools/oracles/cluster/states"
KEY = "resource.customizations.health."
SCRIPTS = {key.removeprefix(KEY).replace("_", "/"): script for key, script in data().items() if key.startswith(KEY)}
"""The script of each kind, by `<group>/<kind>`, as `argocd-cm` has it."""

OF_ARGOCD = frozenset((HERE / "health_of_argocd.txt").read_text().split())
"""Kinds for which Argo CD 3.2.6 has a script of its own."""

KUBERNETES = frozenset({"", "apps", "batch", "policy", "autoscaling"})
"""Groups of Kubernetes without a dot; the others end in `.k8s.io` and are served without a definition."""

States = dict[str, list[dict[str, Any]]]


def read(name: str) -> Any:
    """Return a table of this folder."""
    return yaml.load((HERE / name).read_bytes(), Loader=yaml.CSafeLoader)


def is_custom(group: str) -> bool:
    """Whether a group is none of Kubernetes' own, of which Argo CD's Go code tells the health."""
    served = own_folder("schemas") / "kubernetes"
    return group not in KUBERNETES and not any(served.glob(f"*/{group}"))


def synced() -> Iterator[tuple[str, str]]:
    """Yield the file and `<group>/<kind>` of every custom object under generated/ that an Application syncs."""
    for path in sorted((ROOT / "generated").rglob("*.yaml")):
        if path.relative_to(ROOT / "generated").parts[1] == "nodes":
            continue
        lines = path.read_text().splitlines()
        version = next((line.split()[1] for line in lines if line.startswith("apiVersion: ")), "")
        kind = next((line.split()[1] for line in lines if line.startswith("kind: ")), "")
        group = version.rpartition("/")[0]
        if is_custom(group):
            yield str(path.relative_to(ROOT)), f"{group}/{kind}"


def defined() -> Iterator[tuple[str, str]]:
    """Yield the file and `<group>/<kind>` of every custom kind whose definition is vendored."""
    for path in sorted(own_folder("schemas").glob("*/*/index.json")):
        for kind in json.loads(path.read_bytes()).get("kinds", ()):
            if is_custom(kind["group"]):
                yield str(path.relative_to(ROOT)), f"{kind['group']}/{kind['kind']}"


def lacking(found: Iterator[tuple[str, str]]) -> dict[str, str]:
    """Return the kinds that have a script neither of ours nor of Argo CD's, with one file each."""
    return {kind: file for file, kind in found if kind not in SCRIPTS and kind not in OF_ARGOCD}


def test_every_custom_kind_that_is_rendered_has_a_script():
    """Without one an object is done the moment it is applied, whatever becomes of it."""
    assert {kind for _, kind in synced()} >= {"kueue.x-k8s.io/ResourceFlavor", "amd.com/DeviceConfig"}
    assert lacking(synced()) == {}


def test_every_custom_kind_that_is_vendored_has_a_script():
    """Operators make objects of these kinds, and repositories render more of them than this one."""
    assert lacking(defined()) == {}


def test_a_kind_without_a_script_is_found():
    """The two tests above would see a kind that nobody thought of."""
    assert lacking(iter([("a.yaml", "example.com/Widget")])) == {"example.com/Widget": "a.yaml"}


def test_scripts_of_argo_cd_are_left_alone():
    """Its own script is better informed than one of ours would be."""
    assert sorted(known_health().keys() & OF_ARGOCD) == []


STATES: States = read("health_states.yaml")
CASES = [(kind, state) for kind, states in STATES.items() for state in states]


@pytest.mark.parametrize(("kind", "state"), CASES, ids=[f"{kind} {state['says']}" for kind, state in CASES])
def test_health(kind, state):
    """Status and message are those that a reader of the object would expect."""
    value = {"metadata": {"name": "x"}, "spec": {}, **({"status": state["status"]} if "status" in state else {})}
    assert lua51.health(SCRIPTS[kind], value) == (state["is"], state["says"])


def verdicts(known: Health) -> set[str]:
    """Return what a row of the table can say."""
    return {row[2] for row in known.conditions} | {verdict for verdict in known.words if verdict != "of"}


def test_every_row_of_the_table_has_states_for_all_that_it_says():
    """A word or condition that no state has is one that nobody checked."""
    rows: dict[str, tuple[set[str], set[str]]] = {}
    for kind, known in known_health().items():
        _, shown = rows.setdefault(known.script(), (verdicts(known), set()))
        shown |= {state["is"] for state in STATES.get(kind, ())}
    assert {script: said - shown for script, (said, shown) in rows.items() if said - shown} == {}


@pytest.mark.parametrize("kind", sorted(kind for kind, known in known_health().items() if known.still))
def test_what_has_nothing_to_say_is_healthy_at_once(kind):
    """It holds no wave up, on purpose, whatever its controller notes in it."""
    for status in ({}, {"status": {"state": "notReady", "phase": "Pending"}}):
        assert lua51.health(SCRIPTS[kind], status) == ("Healthy", None)


SAID: dict[str, str] = read("health_recorded.yaml")


def test_every_recorded_state_is_judged():
    """A state that is recorded anew is looked at by a person."""
    assert sorted(SAID) == sorted(path.stem for path in RECORDED.glob("*.json") if not path.stem.startswith("core_"))


@pytest.mark.parametrize("name", sorted(SAID))
def test_recorded_states(name):
    """What real controllers wrote is told as what it is: live objects of a real control plane."""
    script = SCRIPTS[name.replace("_", "/").rpartition(".")[0]]
    status, message = lua51.health(script, json.loads((RECORDED / f"{name}.json").read_bytes()))
    assert f"{status}: {message or ''}".rstrip(": ") == SAID[name]
