"""Charts take the values that Applications give them, and make no object that another folder or chart makes, too.

Helm's answers are recorded without the objects' content. With TRAINYARD_HELM_ORACLE naming a program that answers for
Helm, it is asked about the values of today, and with --update recorded.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from conftest import ROOT
from helm.renders import ask, record, recorded

RECORDED = "charts.jsonl.gz"
HOOK = "helm.sh/hook"
FIRST = {
    "network-operator-keep-ncp": "fails until NicClusterPolicies are served, which the next one sees to",
    "network-operator-upgrade-crd": "applies the definitions of its image",
    "pre-upgrade-check": "succeeds where DeviceConfigs are not served (v1.5.1 templates/pre-upgrade-hook.yaml)",
    "volcano-admission-init": "writes a Secret",
}
"""Jobs of charts that Argo CD runs before anything else, each with why it succeeds on an empty cluster."""

TREE = ROOT / "generated"
INDEX = json.loads((ROOT / "schemas/charts/index.json").read_text(encoding="utf-8"))
CLUSTER_WIDE = {kind for chart in INDEX["charts"] for kind in chart.get("clusterKinds", ())}
"""Kinds without a namespace, of all charts."""


def cases() -> list[dict[str, Any]]:
    """Return a case for each chart of each cluster."""
    found = []
    for path in sorted(TREE.glob("*/argocd/application.*-chart.yaml")):
        spec = yaml.safe_load(path.read_text(encoding="utf-8"))["spec"]
        source, place = spec["source"], spec["destination"]["namespace"]
        chart = source.get("chart") or source["path"].rpartition("/")[2]
        helm = source["helm"]
        assert helm["releaseName"], path
        release = {"release": helm["releaseName"], "namespace": place, "values": helm.get("valuesObject", {})}
        version = str(source["targetRevision"]).removeprefix("v")
        cluster = path.relative_to(TREE).parts[0]
        name = f"{cluster}/{chart}"
        found.append({"name": name, "chart": f"{chart}/{version}", **release, "kubeVersion": "1.35.0", "crds": True})
    return found


def names(answer: dict[str, Any], namespace: str) -> dict[str, Any]:
    """Return an answer with the names of its objects alone, Jobs that come before them apart."""
    objects = [identity(thing, namespace) for thing in answer["objects"] if not hook(thing)]
    first = sorted(thing["metadata"]["name"] for thing in answer["objects"] if thing["kind"] == "Job" and before(thing))
    kept = {key: answer[key] for key in ("error", "missing") if answer.get(key)}
    return {"objects": sorted(objects), **({"first": first} if first else {}), **kept}


def identity(thing: dict[str, Any], namespace: str) -> str:
    """Return group, kind, namespace and name; an object without a namespace has that of its release."""
    kind = f"{thing['apiVersion'].rpartition('/')[0]}/{thing['kind']}"
    head = thing.get("metadata", {})
    place = "" if kind in CLUSTER_WIDE else head.get("namespace") or namespace
    return f"{kind} {place} {head.get('name')}"


def hook(thing: dict[str, Any]) -> bool:
    """Whether an object is a hook, which is gone when it has run."""
    return HOOK in (thing.get("metadata", {}).get("annotations") or {})


def before(thing: dict[str, Any]) -> bool:
    """Whether Argo CD runs a hook before it applies anything, definitions too; Helm applies these first."""
    events = (thing.get("metadata", {}).get("annotations") or {}).get(HOOK, "")
    return bool({event.strip() for event in events.split(",")} & {"pre-install", "pre-upgrade"})


def owners(pairs: list[tuple[dict[str, Any], dict[str, Any]]]) -> dict[str, set[str]]:
    """Return the objects that more than one chart or folder of a cluster makes."""
    found: dict[str, set[str]] = defaultdict(set)
    for case, answer in pairs:
        cluster, _, chart = case["name"].partition("/")
        for thing in answer["objects"]:
            found[f"{cluster} {thing}"].add(f"chart {chart}")
        for thing, folder in ours(cluster, case["namespace"]):
            found[f"{cluster} {thing}"].add(folder)
    return {thing: made for thing, made in found.items() if len(made) > 1}


def ours(cluster: str, namespace: str) -> Iterator[tuple[str, str]]:
    """Yield the objects of a cluster's folders, each with its folder; files of nodes are none."""
    for path in (TREE / cluster).rglob("*.yaml"):
        folder = path.parent.relative_to(TREE / cluster).as_posix()
        if folder.split("/")[0] not in {"argocd", "runs", "nodes"}:
            for thing in yaml.load_all(path.read_text(encoding="utf-8"), yaml.CSafeLoader):
                if isinstance(thing, dict) and "kind" in thing and "apiVersion" in thing:
                    yield identity(thing, namespace), folder


def test_charts_take_their_values():
    """No chart refuses its values, by its schema or by a template, and none lacks a chart inside."""
    pairs = recorded(RECORDED)
    assert len({case["chart"] for case, _ in pairs}) > 12
    assert "apiextensions.k8s.io/CustomResourceDefinition" in CLUSTER_WIDE
    assert {case["name"]: answer for case, answer in pairs if answer.keys() - {"first"} != {"objects"}} == {}
    assert all(answer["objects"] for _, answer in pairs)


def test_no_object_has_two_owners():
    """What a chart makes is made by no other chart of the cluster, and by none of its folders."""
    assert owners(recorded(RECORDED)) == {}


def test_jobs_that_come_first_succeed_on_an_empty_cluster():
    """A Job that needs what the same chart brings would hold up the first sync for ever; somebody has read each."""
    found = [answer.get("first", []) for _, answer in recorded(RECORDED)]
    assert {name for names in found for name in names} == set(FIRST)
    assert all(("network-operator-keep-ncp" in names) == ("network-operator-upgrade-crd" in names) for names in found)


def test_two_owners_would_be_seen():
    """An object of a folder that a chart made, too, is told with both."""
    case = {"name": "tundra/some", "namespace": "there"}
    (first, *_) = (thing for thing, folder in ours("tundra", "there") if folder == "hardware")
    assert owners([(case, {"objects": [first]})]) == {f"tundra {first}": {"chart some", "hardware"}}


@pytest.mark.slow
def test_helm_renders_them_again(request):
    """Asked about today's values, Helm renders each chart, and no object has two owners."""
    asked = cases()
    pairs = [(case, names(answer, case["namespace"])) for case, answer in zip(asked, ask(asked), strict=True)]
    assert {case["name"]: answer for case, answer in pairs if answer.keys() - {"first"} != {"objects"}} == {}
    assert owners(pairs) == {}
    if request.config.getoption("--update"):
        record(RECORDED, pairs)
