"""What a chart of another release does not make is known: Argo CD prunes nothing of charts, and stays OutOfSync.

Helm's answers are recorded without the objects' content, for each pair of releases that can be installed. With
TRAINYARD_HELM_ORACLE naming a program that answers for Helm it is asked again, and with --update recorded.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from everything import OPERATORS, everything
from helm.renders import ask, record, recorded
from helm.test_charts import names
from trainyard.base.versions import order
from trainyard.render.operators import operators
from trainyard.render.operators.install import sites, values
from trainyard.specs.releases import releases
from trainyard.specs.upgrades import upgrades

RECORDED = "left_over.jsonl.gz"
ABSENT = "Chart.yaml file is missing"
DEFINITION = "apiextensions.k8s.io/CustomResourceDefinition "


def installable() -> dict[str, list[str]]:
    """Return the operators with a chart of which several releases can be installed, each with these in order."""
    found = {}
    for name, facts in releases().items():
        known = [version for version in facts.releases if not facts.is_too_old(version)]
        if facts.installable and facts.chart and name in operators() and len(known) > 1:
            found[name] = sorted(known, key=order)
    return found


def cases() -> list[dict[str, Any]]:
    """Return a case for each of these releases, with the values of a cluster with everything."""
    found = []
    for name, versions in installable().items():
        for version in versions:
            cluster = everything(operators={**OPERATORS, name: {**OPERATORS.get(name, {}), "version": version}})
            site = next(site for site in sites(cluster) if site.name == name)
            assert site.facts.chart is not None
            place = {"release": name, "namespace": site.facts.namespace, "values": values(site, operators()[name])}
            chart = f"{site.facts.chart.name}/{version.removeprefix('v')}"
            found.append({"name": f"{name} {version}", "chart": chart, **place, "kubeVersion": "1.35.0", "crds": True})
    return found


def short(thing: str) -> str:
    """Return kind, namespace and name of an object as facts write them."""
    kind, place, name = thing.split(" ")
    return f"{kind.rpartition('/')[2]} {place}{'/' if place else ''}{name}"


def differences(*, back: bool) -> dict[tuple[str, str], list[str]]:
    """Return what only the older of two charts makes, or going back the newer one, by operator and newer release.

    Definitions are said apart.
    """
    made = {case["name"]: set(answer["objects"]) for case, answer in recorded(RECORDED)}
    found: dict[tuple[str, str], list[str]] = {}
    for name, versions in installable().items():
        for pair in pairwise(version for version in versions if f"{name} {version}" in made):
            older, newer = (made[f"{name} {version}"] for version in pair)
            left = newer - older if back else older - newer
            if things := sorted(short(thing) for thing in left if not thing.startswith(DEFINITION)):
                found[name, pair[1]] = things
    return found


def test_what_another_chart_leaves_is_known():
    """No upgrade and no downgrade leaves an object that nobody names, and none names one that goes on."""
    facts = upgrades().items()
    assert differences(back=False) == {
        (name, row.since): sorted(row.objects) for name, one in facts for row in one.left
    }
    assert differences(back=True) == {(name, row.since): sorted(row.objects) for name, one in facts for row in one.made}


@pytest.mark.slow
def test_helm_renders_them_again(request):
    """Asked about today's values, Helm renders each release whose chart is there."""
    asked = cases()
    pairs = [(case, names(answer, case["namespace"])) for case, answer in zip(asked, ask(asked), strict=True)]
    good = [(case, answer) for case, answer in pairs if answer.get("error") != ABSENT]
    assert {case["name"]: answer["error"] for case, answer in good if "error" in answer} == {}
    if request.config.getoption("--update"):
        record(RECORDED, [({"name": case["name"], "chart": case["chart"]}, answer) for case, answer in good])
