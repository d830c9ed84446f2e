"""Clusters of one InfiniBand subnet have GUIDs and partitions of their own, or the second is told of the first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from make import make_cluster, make_source, make_specs
from trainyard.judge.preflight.between.guids import check
from trainyard.specs.load import Loaded

LOW = ["02:10:00:00:00:00:00:00", "02:10:00:00:00:ff:ff:ff"]
INSIDE = ["02:10:00:00:00:FF:00:00", "02:10:00:00:01:00:00:00"]
HIGH = ["02:10:00:00:01:00:00:00", "02:10:00:00:01:FF:FF:FF"]
BASE: dict[str, Any] = {
    "type": "infiniband",
    "attach": "sriov",
    "subnetManager": "UFM 6.19 on two servers",
    "guids": LOW,
}


def found(*fabrics: dict[str, Any]) -> list[str]:
    """Return what is said of clusters with these fabrics, named a, b and so on."""
    written = {name: {**BASE, **fabric} for name, fabric in zip("abc", fabrics, strict=False)}
    clusters = {name: make_cluster(fabric=fabric) for name, fabric in written.items()}
    specs = make_specs(clusters={**clusters, "test": make_cluster()})
    sources = {
        f"cluster/{name}": make_source(f"platform/clusters/{name}.yaml", {"fabric": fabric})
        for name, fabric in written.items()
    }
    specs.sources.update(sources)  # type: ignore[attr-defined]  # a plain dict, as made
    return [
        f"{item.location.file[18:-5]} {item.severity.value} {item.path}: {item.message}"
        for item in check(Loaded(specs, Path()))
    ]


OVERLAPS: dict[str, tuple[tuple[dict[str, Any], ...], list[str]]] = {
    "a copied file": (
        ({}, {}),
        [
            (
                "b error fabric.guids: guids overlap those of cluster 'a', which has the same subnet manager"
                "; use another range"
            )
        ],
    ),
    "a part of the range, and other blanks": (
        ({}, {"guids": INSIDE, "subnetManager": "ufm 6.19  on two servers"}),
        [
            (
                "b error fabric.guids: guids overlap those of cluster 'a', which has the same subnet manager"
                "; use another range"
            )
        ],
    ),
    "another text about the manager": (
        ({}, {"subnetManager": "UFM"}),
        [
            (
                "b warning fabric.guids: guids overlap those of cluster 'a', which may be on the same fabric"
                "; use another range"
            )
        ],
    ),
    "addresses of one fabric": (
        ({"addresses": "10.96.0.0/16"}, {"guids": HIGH, "addresses": "10.96.128.0/17"}),
        ["b warning fabric.addresses: addresses overlap those of cluster 'a' on the same fabric; use another range"],
    ),
    "a partition of another cluster's team": (
        ({"partitionKeys": {"nlp": "0x11"}}, {"guids": HIGH, "partitionKeys": {"ads": "0x8011"}}),
        ["b warning fabric.partitionKeys.ads: partition '0x8011' is that of team 'nlp' on cluster 'a'; use another"],
    ),
}


@pytest.mark.parametrize(("fabrics", "said"), OVERLAPS.values(), ids=OVERLAPS)
def test_what_two_clusters_share_is_told_at_the_second(fabrics, said):
    """Certain where one manager is written for both, a warning where the texts differ."""
    assert found(*fabrics) == said


def test_a_third_cluster_is_told_once():
    """Of the first one whose range it has."""
    assert [line[:7] for line in found({}, {}, {})] == ["b error", "c error"]


APART: dict[str, tuple[dict[str, Any], ...]] = {
    "ranges side by side": ({}, {"guids": HIGH}),
    "GUIDs that nobody writes": ({"guids": None}, {"guids": None}),
    "a range that ends before it starts, of which its own file tells": ({}, {"guids": LOW[::-1]}),
    "RoCE": ({}, {"type": "roce", "subnetManager": None}),
    "addresses side by side": (
        {"addresses": "10.96.0.0/16"},
        {"guids": HIGH, "addresses": "10.97.0.0/16"},
    ),
    "one team's partition on both": (
        {"partitionKeys": {"nlp": "0x11"}},
        {"guids": HIGH, "partitionKeys": {"nlp": "0x11", "ads": "0x12"}},
    ),
    "partitions of two managers": (
        {"partitionKeys": {"nlp": "0x11"}},
        {"guids": HIGH, "subnetManager": "opensm", "partitionKeys": {"ads": "0x11"}},
    ),
}


@pytest.mark.parametrize("fabrics", APART.values(), ids=APART)
def test_clusters_that_share_nothing_are_not_told(fabrics):
    """What is apart stays unsaid."""
    assert found(*fabrics) == []
