"""Every list and map of a spec has a bound, which is said at the door and which no real repository meets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from make import CLUSTER, JOB, TEAM, fields, write_repository
from trainyard.base import limits
from trainyard.judge.preflight import check_repository
from trainyard.specs import Cluster, Job, Repository, Team
from trainyard.specs.models.base import Spec


def models(model: type[Spec] = Spec) -> Iterator[type[Spec]]:
    """Yield every model there is."""
    for subclass in model.__subclasses__():
        yield subclass
        yield from models(subclass)


def unbounded(schema: Any, path: str = "") -> Iterator[str]:
    """Yield the lists and maps of a JSON schema that may have any number of entries."""
    if isinstance(schema, dict):
        fixed = schema.get("additionalProperties", False) is False
        if schema.get("type") == "object" and not fixed and "maxProperties" not in schema:
            yield path
        if schema.get("type") == "array" and "maxItems" not in schema:
            yield path
        for key, value in schema.items():
            yield from unbounded(value, f"{path}/{key}")
    elif isinstance(schema, list):
        for index, item in enumerate(schema):
            yield from unbounded(item, f"{path}/{index}")


def test_every_list_and_map_has_a_bound() -> None:
    """No model has a list or a map that may grow without end, the models of plug-ins and of tables too."""
    found = {model.__name__: list(unbounded(model.model_json_schema())) for model in models()}
    assert len(found) > 30
    assert {name: paths for name, paths in found.items() if paths} == {}
    assert {Job, Team, Cluster, Repository} <= set(models())


def test_a_list_without_a_word_of_its_own_is_seen() -> None:
    """The walk finds what has no bound, so that it cannot pass for want of looking."""
    schema = {"properties": {"a": {"type": "array"}, "b": {"type": "object", "additionalProperties": {}}}}
    assert list(unbounded(schema)) == ["/properties/a", "/properties/b"]


def many(count: int) -> dict[str, str]:
    """Return a map with so many entries."""
    return {f"a{number}": "b" for number in range(count)}


def patch(count: int) -> dict[str, Any]:
    """Return a patch of so many annotations."""
    return {"object": "Pod", "reason": "a test", "merge": {"metadata": {"annotations": many(count)}}}


def refused(root: Any, **files: Any) -> list[tuple[str, str]]:
    """Return rule and message of every error."""
    write_repository(root, **files)
    return [(finding.rule, finding.message) for finding in check_repository(root).findings if finding.is_error]


JOBS = {
    "roles": ({"roles": {f"r{number}": {} for number in range(5000)}}, "roles has", limits.ROLES),
    "waivers": ({"waive": many(3000)}, "waive has", limits.WAIVERS),
    "patches": ({"patches": [patch(1)] * 3000}, "patches has 3000 entries", limits.PATCHES),
    "labels": ({"labels": many(20_000)}, "labels has", limits.LABELS),
    "variables": ({"env": many(1001)}, "env has", limits.ENTRIES),
    "arguments": ({"args": ["a"] * 1001}, "args has 1001 entries", limits.ENTRIES),
}


@pytest.mark.parametrize(("job", "said", "most"), JOBS.values(), ids=JOBS)
def test_a_job_of_too_many(job, said, most, tmp_path) -> None:
    """A list that no real job has is one error, with the bound, and nothing else of it is looked at."""
    ((rule, message),) = refused(tmp_path, jobs={"nlp/train": fields(JOB, job)})
    assert rule == "spec/too-many"
    assert message.startswith(said)
    assert message.endswith(f"at most {most} go here")


def test_a_patch_of_too_much(tmp_path) -> None:
    """Patches together may hold so many values, since each is merged into what those before it made."""
    job = fields(JOB, {"patches": [patch(200)] * 30})
    assert refused(tmp_path, jobs={"nlp/train": job}) == [
        ("spec/too-many", f"patches contains more than {limits.FREE_VALUES} values; write fewer")
    ]


def test_teams_and_clusters_have_bounds(tmp_path) -> None:
    """The bounds are those of all files."""
    team = {**TEAM, "secrets": [f"s{number}" for number in range(1001)]}
    cluster = {**CLUSTER, "runtimeClasses": [f"r{number}" for number in range(1001)]}
    found = refused(tmp_path, teams={"nlp": team}, clusters={"test": cluster})
    assert [message for rule, message in found if rule == "spec/too-many"] == [
        "runtimeClasses has 1001 entries; at most 1000 go here",
        "secrets has 1001 entries; at most 1000 go here",
    ]


def test_a_large_job_is_taken(tmp_path) -> None:
    """As many entries as the bounds allow are judged like any others."""
    job = {"env": many(limits.ENTRIES), "labels": many(limits.LABELS), "args": ["a"] * limits.ENTRIES}
    assert refused(tmp_path, jobs={"nlp/train": fields(JOB, job)}) == []
