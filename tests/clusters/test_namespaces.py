"""A team whose namespace has another name: everything is in the namespace, and what is the team's has its name."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from make import make_cluster, make_team
from trainyard.base.documents import load
from trainyard.base.labels import NAMESPACE
from trainyard.change.constructs.site import Site, Space
from trainyard.judge.preflight.jobs import run_of
from trainyard.render.clusters import folders
from trainyard.render.clusters.alerts import team_of
from trainyard.render.clusters.dashboards import resources
from trainyard.render.kinds import build, resolve
from trainyard.render.parts.objects import Resource
from trainyard.render.prerequisites import prerequisites
from trainyard.specs import namespaces
from trainyard.specs.load import read_repository
from trainyard.specs.sources import Specs

ROOT = Path(__file__).parents[2]
CLUSTERS = sorted(path.stem for path in (ROOT / "platform/clusters").glob("*.yaml"))

NAMED = re.compile(
    r"system:serviceaccounts?:(?P<account>[a-z0-9-]+)|\.(?P<host>[a-z0-9-]+)\.svc\b"
    r"|(?:-n|--namespace) (?P<option>[a-z0-9-]+)"
    r"|namespace=~?\"(?P<series>[^\"$]+)\"|/(?:ns|namespaces)/(?P<path>[a-z0-9-]+)|goog\[(?P<google>[a-z0-9-]+)/"
    r"|\bnim-(?P<nim>[a-z0-9-]+)|(?:Secret|ConfigMap|service account) `(?P<page>[a-z0-9-]+)/"
)
"""Where a text names a namespace: accounts, hosts, options of commands, series, paths of the API, pages."""


QUEUES = {"research": {"teams": ["ads", "nlp"], "nominalQuota": {"gpu": {"gpus": 32}}}}


def of_namespace(name: str) -> str:
    """Return the namespace that a team has in these tests."""
    return f"zone-{name}"


@cache
def plain() -> Specs:
    """Return the repository's specs."""
    return read_repository(ROOT).specs


@cache
def moved() -> Specs:
    """Return the repository's specs, with another namespace for each team."""
    specs = plain()
    teams = {name: team.model_copy(update={"namespace": of_namespace(name)}) for name, team in specs.teams.items()}
    return namespaces.know_all_teams(replace(specs, teams=teams))


def texts_of(boards: list[Resource]) -> list[str]:
    """Return the dashboards of ConfigMaps, as JSON."""
    return [text for board in boards for text in board.fields["data"].values()]


def spaces(value: Any, key: str = "") -> Iterator[str]:
    """Yield the namespaces that a value names, by its keys and in its texts."""
    if isinstance(value, Mapping):
        if value.get("key") == NAMESPACE:
            yield from value["values"]
        for name, item in value.items():
            yield from [str(item)] if name == NAMESPACE else spaces(item, name)
    elif isinstance(value, list):
        for item in value:
            yield from spaces(item, key)
    elif isinstance(value, str):
        if value.startswith("apiVersion:"):
            yield from (name for document in load(value.encode(), file="")[0] for name in spaces(document.value))
        if key.lower().endswith(("namespace", "namespaces")) or key == "matchNames":
            yield value
        yield from (name for found in NAMED.finditer(value) for name in (found[found.lastgroup or 0]).split("|"))
        if key == "command" or " in namespaces " in value:
            yield from re.split("[ ,\"']+", value)


def objects(name: str) -> Iterator[Mapping[str, Any]]:
    """Yield every object of a cluster, and one with the texts of its page of prerequisites."""
    specs = moved()
    yield from (resource.value() for resources in folders(specs, name).values() for resource in resources)
    for file in specs.jobs:
        run = run_of(specs, file) if file.job.cluster == name and not file.job.retired else None
        if run is not None:
            yield from (resource.value() for resource in build(resolve(run)))
    page = [str(item) for items in prerequisites(specs, name).values() for item in items]
    yield {"kind": "Page", "metadata": {}, "page": page}


@pytest.mark.parametrize("name", CLUSTERS)
def test_no_object_names_a_team_where_a_namespace_belongs(name):
    """No namespace, selector, account, host, series or command has the name of a team."""
    teams, found = {*moved().teams}, set()
    for value in objects(name):
        made = [value["metadata"]["name"]] if value["kind"] == "Namespace" else []
        named = {*spaces(value), *made}
        assert not named & teams, (value["kind"], value["metadata"].get("name"), named & teams)
        found |= named
    assert {of_namespace(team) for team in moved().clusters[name].teams()} <= found


def test_alerts_name_the_team_of_a_namespace():
    """Their label `team` is the team's name, by which people are told, and not that of the namespace."""
    two = make_cluster(queues=QUEUES).with_namespaces({"ads": "zone-ads", "nlp": "zone-nlp"})
    assert team_of(two, "namespace") == (
        '{{ if eq $labels.namespace "zone-ads" }}ads{{ else if eq $labels.namespace "zone-nlp" }}nlp{{ else }}'
        "{{ $labels.namespace }}{{ end }}"
    )
    assert team_of(two, "team") == "{{ $labels.team }}"
    assert team_of(make_cluster(), "namespace") == "{{ $labels.namespace }}"


def test_dashboards_find_series_by_the_namespaces_of_the_teams_that_are_chosen():
    """A hidden choice follows that of the team; without other namespaces a dashboard is as it always was."""
    boards = {name: list(resources(specs().clusters["atlas"])) for name, specs in (("new", moved), ("old", plain))}
    for name, found in boards.items():
        texts = texts_of(found)
        assert any('namespace=~\\"$namespace\\"' in text for text in texts) == (name == "new")
        assert any('namespace=~\\"$team\\"' in text for text in texts) == (name == "old")
    hidden = [
        item for text in texts_of(boards["new"]) for item in json.loads(text)["templating"]["list"] if "hide" in item
    ]
    assert [(item["name"], "allValue" in item) for item in hidden] == [("namespace", False)]


def test_a_program_gets_a_space_whose_cluster_knows_the_teams_namespace():
    """A cluster that is written in a program has read no file of a team."""
    cluster, team = make_cluster(), make_team(namespace="zone")
    space = Space("nlp", team, Site("test", cluster))
    assert (space.site.cluster.namespace_of("nlp"), cluster.namespace_of("nlp")) == ("zone", "nlp")
