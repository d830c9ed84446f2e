"""The namespace of a team is the team's alone, and each that cannot be is one finding."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from make import TEAM, fields, make_cluster, make_source, make_specs, make_team
from trainyard.judge.preflight.subjects import OneTeam
from trainyard.judge.preflight.team import clusters
from trainyard.judge.preflight.team.namespaces import check
from trainyard.specs import namespaces
from trainyard.specs.load import read_repository
from trainyard.specs.sources import Specs

QUEUES = {"research": {"teams": ["ads", "nlp", "vision"], "nominalQuota": {"gpu": {"gpus": 32}}}}


def specs_of(namespace: Any, *, vision: Any = None, **more: Any) -> Specs:
    """Return the specs of two clusters with three teams: `nlp`, `ads` without a field, and `vision`."""
    own = {} if namespace is None else {"namespace": namespace}
    teams = {"nlp": make_team(**own, **more), "ads": make_team(), "vision": make_team(namespace=vision)}
    known = {name: make_cluster(queues=QUEUES) for name in ("test", "far")}
    specs = make_specs(clusters=known, teams=teams)
    source = make_source("platform/teams/nlp.yaml", fields(TEAM, {**own, **more}))
    return namespaces.know_all_teams(replace(specs, sources={**specs.sources, "team/nlp": source}))


CASES: dict[str, tuple[Any, str, str | None]] = {
    "nothing said": (None, "", None),
    "another name": ("ml-nlp", "", None),
    "the team's own name": ("nlp", "", None),
    "names by cluster": ({"default": "ml-nlp", "far": "ml-nlp-far"}, "", None),
    "a name on one cluster alone": ({"far": "ml-nlp"}, "", None),
    "Kubernetes' own": ("default", "namespace", "namespace 'default' is taken by the system; choose another"),
    "a system's": ("kube-public", "namespace", "namespace 'kube-public' is taken by the system; choose another"),
    "an operator's that ends in -system": (
        "kueue-system",
        "namespace",
        "namespace 'kueue-system' is taken by the system; choose another",
    ),
    "an operator's": ("cert-manager", "namespace", "namespace 'cert-manager' is that of operator 'cert-manager'; "),
    "Argo CD's": ("argocd", "namespace", "namespace 'argocd' is that of Argo CD of cluster "),
    "the name of another team": ("ads", "namespace", "namespace 'ads' is that of team 'ads'; use another"),
    "of one cluster of two": (
        {"default": "ml-nlp", "far": "ads"},
        "namespace.far",
        "namespace 'ads' is that of team 'ads'; use another",
    ),
}


@pytest.mark.parametrize(("namespace", "path", "message"), CASES.values(), ids=CASES)
def test_a_namespace_is_one_teams_alone(namespace, path, message):
    """What cannot be is said once, at the field; what can be is said nothing of."""
    found = list(check(OneTeam(specs_of(namespace), "nlp")))
    assert [finding.path or "" for finding in found] == ([path] if message else [])
    assert all(finding.message.startswith(message or "-") for finding in found)


@pytest.mark.parametrize(
    ("one", "two", "wrong"),
    [
        ("ml", "ml", True),
        ("ml", {"far": "ml"}, True),
        ({"test": "ml"}, {"far": "ml"}, False),
        ("ml", "ml-vision", False),
    ],
)
def test_two_teams_with_one_namespace_are_one_finding(one, two, wrong):
    """It is at the second by name, and only where a cluster has both."""
    specs = specs_of(one, vision=two)
    found = [finding for name in ("nlp", "vision") for finding in check(OneTeam(specs, name))]
    assert [finding.message for finding in found] == (["namespace 'ml' is that of team 'nlp'; use another"] * wrong)
    assert all(finding.location.file == "platform/teams/vision.yaml" for finding in found)


EGRESS: dict[str, tuple[str, str | None]] = {
    "its own namespace": ("ml-nlp", "pods of namespace 'ml-nlp' already reach each other; remove the entry"),
    "another team's": ("ml-vision", "namespace 'ml-vision' belongs to another team, whose pods accept no connection; "),
    "one that has the name of a team elsewhere": ("vision", None),
}


@pytest.mark.parametrize(("namespace", "message"), EGRESS.values(), ids=EGRESS)
def test_egress_names_namespaces_and_not_teams(namespace, message):
    """Ways to one's own pods and to other teams' are told by their namespaces."""
    opened = [{"namespace": namespace, "ports": [80]}]
    found = list(clusters.check(OneTeam(specs_of("ml-nlp", vision="ml-vision", egress=opened), "nlp")))
    assert [finding.message.startswith(message or "-") for finding in found] == [True] * (message is not None)


def test_clusters_know_what_teams_say(root):
    """Whoever reads a repository gets clusters that answer which namespace a team has, and whose one is."""
    specs = read_repository(root).specs
    campus, atlas = specs.clusters["campus"], specs.clusters["atlas"]
    assert (campus.namespace_of("speech"), campus.namespace_of("nlp")) == ("ml-speech-prod", "nlp")
    assert [campus.team_in(name) for name in ("ml-speech-prod", "speech", "nlp")] == ["speech", None, "nlp"]
    assert campus.namespaces() == ("ml-speech-prod", "nlp", "vision")
    assert not atlas.other_namespaces
