"""A cluster extends another: values merge, findings stand where a value was written, and wrong chains are findings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from make import CLUSTER, write_repository
from trainyard.base.documents.layered import merge
from trainyard.specs.load import read_repository
from trainyard.specs.tracked import Tracked

FAR: dict[str, Any] = {"base": "test", "argocd": {"destination": {"name": "far"}}}

MERGED: dict[str, tuple[Any, Any, Any]] = {
    "maps by key": ({"a": 1, "b": {"c": 2, "d": 3}}, {"b": {"c": 4}}, {"a": 1, "b": {"c": 4, "d": 3}}),
    "lists replace": ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
    "null removes": ({"a": 1, "b": {"c": 2, "d": 3}}, {"a": None, "b": {"c": None}}, {"b": {"d": 3}}),
    "null of nothing": ({}, {"a": None}, {}),
    "a map in the place of a text": ({"a": "b"}, {"a": {"c": 1, "d": None}}, {"a": {"c": 1}}),
    "a text in the place of a map": ({"a": {"c": 1}}, {"a": "b"}, {"a": "b"}),
}

WRONG: dict[str, tuple[dict[str, dict[str, Any]], list[str]]] = {
    "a base that is not there": (
        {"far": {**FAR, "base": "tset"}},
        ["far.yaml spec/base-missing base 'tset' does not exist; did you mean 'test'?"],
    ),
    "its own base": (
        {"far": {**FAR, "base": "far"}},
        ["far.yaml spec/base-cycle base 'far' leads back to this cluster; remove base from one of their files"],
    ),
    "a circle": (
        {"far": {**FAR, "base": "near"}, "near": {**FAR, "base": "far"}},
        [
            "far.yaml spec/base-cycle base 'near' leads back to this cluster; remove base from one of their files",
            "near.yaml spec/base-cycle base 'far' leads back to this cluster; remove base from one of their files",
        ],
    ),
    "a value of the base alone": (
        {"far": {**FAR, "base": "common"}, "common": {**CLUSTER, "abstract": True, "recoveryMinutes": -1}},
        ["common.yaml spec/range recoveryMinutes is -1, but must be at least 0"],
    ),
    "a wrong value over a right one": (
        {"far": {**FAR, "recoveryMinutes": -1}},
        ["far.yaml spec/range recoveryMinutes is -1, but must be at least 0"],
    ),
    "a base that lacks fields, and nothing else": ({"common": {"abstract": True, "kubernetes": "1.35"}}, []),
    "a cluster that lacks fields": (
        {"far": {"base": "common"}, "common": {"abstract": True, "kubernetes": "1.35"}},
        [
            "far.yaml spec/missing-field argocd is missing; add it",
            "far.yaml spec/missing-field pools is missing; add it",
        ],
    ),
    "nulls that remove nothing": (
        {"far": {**FAR, "operators": {"jobst": None}, "gang": None, "description": None, "storage": {"local": None}}},
        [
            "far.yaml spec/base-null no base has 'gang' here, so null removes nothing; remove it",
            "far.yaml spec/base-null no base has 'jobst' here, so null removes nothing; did you mean 'jobset'?",
        ],
    ),
    "a null in a map that is new": (
        {"far": {**FAR, "pools": {"more": {"shape": "dgx-h100", "nodes": 2, "kubelet": None}}}},
        ["far.yaml spec/base-null no base has 'kubelet' here, so null removes nothing; remove it"],
    ),
    "a right pair": ({"far": FAR}, []),
}


def repository(root: Path, **clusters: dict[str, Any]) -> Path:
    """Write a repository with the usual cluster and others."""
    return write_repository(root, clusters={"test": CLUSTER, **clusters})


@pytest.mark.parametrize(("below", "over", "expected"), MERGED.values(), ids=MERGED)
def test_values_merge(below, over, expected):
    """Maps merge, lists and the rest replace, and null removes."""
    assert merge(below, over) == expected


@pytest.mark.parametrize(("clusters", "expected"), WRONG.values(), ids=WRONG)
def test_a_finding_stands_in_the_file_that_says_the_value(tmp_path, clusters, expected):
    """Chains that lead nowhere are findings; so are values, once, in the file where they were written."""
    found = read_repository(repository(tmp_path, **clusters)).findings
    shown = sorted(f"{Path(one.location.file).name} {one.rule} {one.message}" for one in found)
    assert shown == expected


def test_what_a_cluster_leaves_out_is_its_bases(tmp_path):
    """Fields of bases count, also of a base of a base; the nearest wins, and a file that is only a base is none."""
    common = {**CLUSTER, "abstract": True, "description": "common"}
    near = {"base": "common", "recoveryMinutes": 7}
    specs = read_repository(repository(tmp_path, common=common, near=near, far={**FAR, "base": "near"})).specs
    assert sorted(specs.clusters) == ["far", "near", "test"]
    far = specs.clusters["far"]
    assert (far.argocd.destination.name, far.recovery_minutes, far.description, far.abstract) == ("far", 7, None, False)
    assert far.pools == specs.clusters["test"].pools
    source = specs.sources["cluster/far"]
    places = {path: source.location(path).file for path in (("recoveryMinutes",), ("pools", "h100"), ("argocd",))}
    assert [Path(file).name for file in places.values()] == ["near.yaml", "common.yaml", "far.yaml"]


def test_who_looks_at_a_cluster_has_read_its_bases(tmp_path):
    """The files of all bases are noted with a cluster's own, so that no kept verdict outlives a change of theirs."""
    specs = read_repository(repository(tmp_path, near=FAR, far={**FAR, "base": "near"})).specs
    assert isinstance(specs.clusters, Tracked)
    folder, file = specs.clusters._place("far")
    assert folder.below[file] == ("near.yaml", "test.yaml")
