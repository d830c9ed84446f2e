"""What Argo CD does with an object that changes: by its Application, by its own options, and by the API server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from trainyard.base.documents import dump
from trainyard.base.findings import Finding, Location, ObjectRef, Severity
from trainyard.change.plan.compare.syncing import Applications, mark_refused, sync
from trainyard.change.plan.effects import ObjectEffect
from trainyard.change.plan.read.two_sides import Sides
from trainyard.render.tree.snapshot import Snapshot

AUTOMATED: dict[str, Any] = {"automated": {"prune": True}}
POLICIES: dict[str, dict[str, Any]] = {
    "platform": AUTOMATED,
    "teams/nlp": {"automated": {"prune": False}},
    "hardware": {},
    "operators": {"automated": {"enabled": False, "prune": True}},
}


def made(**options: str) -> dict[str, Any]:
    """Return an object with sync options."""
    text = ",".join(f"{name}={value}" for name, value in options.items())
    return {"metadata": {"annotations": {"argocd.argoproj.io/sync-options": text}}}


FORCED = made(Force="true", Replace="true")
CASES: dict[str, tuple[str, Any, Any, str]] = {
    "a change": ("platform", {}, {}, "in place"),
    "a change of what is made anew": ("platform", FORCED, {}, "replace"),
    "a change that says so from now on": ("platform", {}, FORCED, "replace"),
    "replacing without force": ("platform", {}, made(Replace="true"), "in place"),
    "a new object": ("platform", None, {}, "create"),
    "one that goes": ("platform", {}, None, "prune"),
    "one that goes and is kept": ("platform", made(Prune="false"), None, "keep"),
    "one that nobody deletes unasked": ("platform", made(Delete="confirm"), None, "keep"),
    "one that goes where nothing is pruned": ("teams/nlp", {}, None, "keep"),
    "a folder below one that is synced": ("teams/nlp/more", None, {}, "create"),
    "one that a person syncs": ("hardware", {}, {}, "by hand"),
    "one that goes when a person syncs": ("hardware", {}, None, "by hand"),
    "automation that is off": ("operators/kueue", {}, {}, "by hand"),
    "a folder of no Application": ("elsewhere", {}, None, "prune"),
    "files for the node image": ("nodes/gpu", {}, {}, "never"),
}


def tree(policies: Mapping[str, Any]) -> Snapshot:
    """Return a tree with an Application for each folder."""
    texts = {}
    for folder, policy in policies.items():
        spec = {"source": {"path": f"generated/test/{folder}"}, "syncPolicy": policy}
        name = f"test/argocd/application.test-{folder.replace('/', '-')}.yaml"
        texts[name] = dump({"kind": "Application", "spec": spec}).encode()
    return Snapshot({path: path for path in texts}, read=lambda oids: (texts[oid] for oid in oids))


def applications(before: Mapping[str, Any], after: Mapping[str, Any]) -> Applications:
    """Return the Applications of two trees."""
    return Applications(Sides(tree(before), tree(after), lambda _: (None, None)))


@pytest.mark.parametrize(("folder", "old", "new", "expected"), CASES.values(), ids=CASES)
def test_what_argo_cd_does(folder: str, old: Any, new: Any, expected: str) -> None:
    """The Application of the nearest folder decides, then the options of the object as it was and as it will be."""
    assert sync(applications(POLICIES, POLICIES), "test", folder, old, new) == expected


def test_an_application_that_changes_counts_as_it_will_be() -> None:
    """One that goes counts as it was."""
    found = applications({"platform": {}, "hardware": {}}, {"platform": AUTOMATED})
    assert sync(found, "test", "platform", {}, {}) == "in place"
    assert sync(found, "test", "hardware", {}, {}) == "by hand"


def test_what_the_api_server_refuses_is_refused() -> None:
    """By an error of an update at the object itself: others, warnings and new objects are as they are."""
    one, two = (ObjectRef("storage.k8s.io/v1", "StorageClass", None, name) for name in ("shared", "other"))
    place = Location("generated/test/platform/storageclass.shared.yaml", 1, 1)
    error = Finding("update/storage", "schema", "it is immutable", place, object=one)
    warning = replace(error, severity=Severity.WARNING, object=two)
    effects = [ObjectEffect("changes", "test", "platform", item) for item in (one, two)]
    assert [item.sync for item in mark_refused(effects, [error, warning])] == ["refuse", "in place"]
    others = [replace(effects[0], word="adds", sync="create"), replace(effects[0], cluster="eu")]
    assert [item.sync for item in mark_refused(others, [error])] == ["create", "in place"]
