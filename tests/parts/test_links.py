"""A run's pages stand in its annotations, where an address is stated, and plan prints them."""

from __future__ import annotations

from typing import Any

import pytest

from make import make_cluster, make_resolved
from trainyard.change.plan.effects import RunEffect
from trainyard.change.plan.words.runs import run_details
from trainyard.render.kinds import build
from trainyard.render.parts import links

GRAFANA = {"grafana": {"url": "https://grafana.example.com/"}}
WANDB = {"wandb": {"url": "https://api.wandb.ai", "entity": "lab", "apiKey": "wandb/api-key"}}
EXISTING = {"existing": {"namespace": "monitoring"}}
PAGE = "https://grafana.example.com/d/trainyard-run?"

CASES: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, str]]] = {
    "no monitoring": ({}, {}, {}),
    "a Grafana without address": ({"monitoring": {**EXISTING, "grafana": {}}}, {}, {}),
    "its address": ({"monitoring": {**EXISTING, **GRAFANA}}, {}, {"dashboard": f"{PAGE}var-team=nlp&var-run=NAME"}),
    "a source of data": (
        {"monitoring": {**EXISTING, "grafana": {**GRAFANA["grafana"], "datasource": "east 1"}}},
        {},
        {"dashboard": f"{PAGE}var-datasource=east+1&var-team=nlp&var-run=NAME"},
    ),
    "a tracker that the job names": (
        {"tracking": WANDB},
        {"tracking": ["wandb"]},
        {"wandb": "https://wandb.ai/lab/nlp/runs/NAME"},
    ),
    "a tracker that it does not name": ({"tracking": WANDB}, {}, {}),
    "a step, whose run has no name yet": ({"monitoring": {**EXISTING, **GRAFANA}}, {"after": []}, {}),
}


@pytest.mark.parametrize(("cluster", "job", "expected"), CASES.values(), ids=CASES)
def test_annotations_name_the_pages_of_a_run(cluster, job, expected):
    """On the object that is queued, and on nothing else of the run; what is written is what plan reads."""
    run = make_resolved(cluster=make_cluster(**cluster), **job)
    wanted = {name: address.replace("NAME", run.run.name) for name, address in expected.items()}
    objects = [item.value() for item in build(run)]
    assert dict(links.written_links(objects)) == wanted
    keys = {f"trainyard.dev/link-{name}" for name in wanted}
    noted = [item for item in objects if keys & set(item["metadata"].get("annotations") or {})]
    assert len(noted) == bool(wanted)


def test_plan_prints_the_pages_of_what_begins():
    """A run that ends has its pages already."""
    pages = (("dashboard", "https://grafana.example.com/d/x"),)
    for word, printed in (("starts", True), ("replaces", True), ("stops", False), ("keeps", False)):
        effect = RunEffect(word, "test", "nlp", "train", "train-abc", links=pages)
        assert ("dashboard: https://grafana.example.com/d/x" in list(run_details(effect))) == printed


def test_objects_of_any_form_have_no_pages():
    """Plan reads trees that nobody has checked."""
    found: list[Any] = [None, [], {"metadata": None}, {"metadata": {"annotations": ["x"]}}]
    found += [{"metadata": {"annotations": {"trainyard.dev/link-other": "x", "trainyard.dev/link-wandb": 1}}}]
    assert links.written_links(found) == ()
