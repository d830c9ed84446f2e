"""API types: how CRDs and OpenAPI become `schemas/`, and that what is there is whole."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from command import Done
from make import make_crd
from tool import tool
from trainyard.upstream.apiserver.catalog import crd, schemas
from trainyard.upstream.apiserver.catalog.releases import Shelf

MINORS = ("1.34", "1.35", "1.36", "1.37")
LIMIT_BYTES = 2 * 1024 * 1024


def convert(schema: dict[str, Any], **version: Any) -> dict[str, Any]:
    """The schema of a CRD's only version."""
    document = make_crd(schema={"openAPIV3Schema": schema}, **version)
    (definition,) = crd.definitions(document)
    return dict(definition.schema)


def spec_of(schema: dict[str, Any]) -> dict[str, Any]:
    """Convert a field `spec` of an object."""
    converted: dict[str, Any] = convert({"type": "object", "properties": {"spec": schema}})["properties"]["spec"]
    return converted


NODES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "words are dropped, a property called description is kept": (
        {"type": "object", "description": "w", "properties": {"description": {"type": "string", "description": "w"}}},
        {"type": "object", "additionalProperties": False, "properties": {"description": {"type": "string"}}},
    ),
    "properties called properties, items and default": (
        {
            "type": "object",
            "properties": {
                "properties": {"type": "object", "properties": {"items": {"type": "string"}}},
                "default": {"type": "string", "default": "description"},
            },
        },
        {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                "properties": {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {"items": {"type": "string"}},
                },
                "default": {"type": ["string", "null"], "default": "description"},
            },
        },
    ),
    "an object without fields is closed": ({"type": "object"}, {"type": "object", "additionalProperties": False}),
    "unknown fields that are kept are not refused": (
        {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    ),
    "values of a map keep their schema": (
        {"type": "object", "additionalProperties": {"type": "object"}},
        {"type": "object", "additionalProperties": {"type": "object", "additionalProperties": False}},
    ),
    "an integer or text says so to any engine": (
        {"x-kubernetes-int-or-string": True, "pattern": "x"},
        {
            "x-kubernetes-int-or-string": True,
            "pattern": "x",
            "anyOf": [{"type": "integer"}, {"type": "string"}],
        },
    ),
    "null is one of the types of what is nullable": (
        {"type": "string", "nullable": True},
        {"type": ["string", "null"], "nullable": True},
    ),
    "exclusive bounds are numbers": (
        {"type": "integer", "minimum": 1, "exclusiveMinimum": True, "maximum": 9, "exclusiveMaximum": False},
        {"type": "integer", "exclusiveMinimum": 1, "maximum": 9},
    ),
    "branches state values and close nothing": (
        {"type": "object", "properties": {"a": {"type": "string"}}, "anyOf": [{"properties": {"a": {"enum": ["b"]}}}]},
        {
            "type": "object",
            "additionalProperties": False,
            "properties": {"a": {"type": "string"}},
            "anyOf": [{"properties": {"a": {"enum": ["b"]}}}],
        },
    ),
    "rules and list types are kept": (
        {
            "type": "array",
            "items": {"type": "string"},
            "x-kubernetes-list-type": "set",
            "x-kubernetes-validations": [{"rule": "true", "message": "m", "reason": "FieldValueInvalid"}],
        },
        {
            "type": "array",
            "items": {"type": "string"},
            "x-kubernetes-list-type": "set",
            "x-kubernetes-validations": [{"rule": "true", "message": "m", "reason": "FieldValueInvalid"}],
        },
    ),
}


@pytest.mark.parametrize(("given", "expected"), NODES.values(), ids=NODES)
def test_nodes_of_a_crd(given, expected):
    """A node of a CRD keeps what the server reads, closed where the server prunes."""
    assert spec_of(given) == expected


def test_root_of_a_crd():
    """Every kind has apiVersion, kind and the shared metadata, and says what it is."""
    schema = convert({"type": "object", "properties": {"metadata": {"type": "object"}}})
    assert schema["properties"] == {
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        "metadata": {"$ref": "#/definitions/meta.v1.ObjectMeta"},
    }
    assert schema["additionalProperties"] is False
    assert schema["x-kubernetes-group-version-kind"] == [{"group": "example.com", "version": "v1", "kind": "Probe"}]


def test_limits_on_names():
    """A CRD may limit metadata.name, beside the shared metadata."""
    name = {"type": "string", "maxLength": 20}
    schema = convert({"type": "object", "properties": {"metadata": {"type": "object", "properties": {"name": name}}}})
    validator = jsonschema.Draft7Validator(schema)
    assert validator.is_valid({"metadata": {"name": "a" * 20, "labels": {"a": "b"}}})
    assert not validator.is_valid({"metadata": {"name": "a" * 21}})
    assert not validator.is_valid({"metadata": {"nam": "a"}})


def test_embedded_resources_have_their_own_metadata():
    """An embedded resource needs apiVersion and kind, and its metadata is closed."""
    validator = jsonschema.Draft7Validator(
        convert(
            {
                "type": "object",
                "properties": {
                    "spec": {
                        "type": "object",
                        "x-kubernetes-embedded-resource": True,
                        "x-kubernetes-preserve-unknown-fields": True,
                    }
                },
            }
        )
    )
    assert validator.is_valid({"spec": {"apiVersion": "v1", "kind": "Pod", "data": 1}})
    assert not validator.is_valid({"spec": {"apiVersion": "v1"}})
    assert not validator.is_valid({"spec": {"apiVersion": "v1", "kind": "Pod", "metadata": {"nam": "x"}}})


def test_facts_of_a_version():
    """Scope, names, served, storage, deprecation and subresources come from the CRD."""
    paths = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
    document = make_crd(served=False, deprecated=True, subresources={"status": {}, "scale": paths})
    (definition,) = crd.definitions(document)
    assert (definition.kind, definition.plural, definition.scope) == ("Probe", "probes", "Namespaced")
    assert (definition.served, definition.storage, definition.status, definition.scale) == (False, True, True, paths)


@pytest.fixture(scope="module")
def shelf(root):
    """The repository's API types."""
    return Shelf(root / "schemas")


def releases(shelf: Shelf) -> list[tuple[str, str]]:
    """Every project and release, Kubernetes among them."""
    return [(name, release) for name in ["kubernetes", *shelf.projects()] for release in shelf.releases(name)]


def test_indexes_name_exactly_the_files(shelf):
    """Each release's index names every schema file beside it, and no other."""
    for project, release in releases(shelf):
        folder = shelf.folder / project / release
        named = {
            f"{entry['group'] or 'core'}/{entry['kind'].lower()}_{entry['version']}.json"
            for entry in shelf.index(project, release)
        }
        assert named == {path.relative_to(folder).as_posix() for path in folder.glob("*/*.json")}, folder


def test_lock_names_exactly_the_releases(shelf):
    """The lock says of every release where it comes from, file by file with a hash, and names no other."""
    lock = yaml.safe_load((shelf.folder / "lock.yaml").read_text(encoding="utf-8"))
    assert sorted(lock["kubernetes"]) == shelf.releases("kubernetes")
    locked = {(name, release) for name, entries in lock["projects"].items() for release in entries}
    assert locked == {pair for pair in releases(shelf) if pair[0] != "kubernetes"}
    for entries in [lock["kubernetes"], *lock["projects"].values()]:
        for entry in entries.values():
            assert entry["repository"]
            assert entry["licence"] in ("Apache-2.0", "MIT")
            assert all({"sha256", "blob"} & file.keys() for file in entry["files"])
    charts = {(path.parent.name, path.stem) for path in (shelf.folder / "charts").glob("*/*.yaml")}
    assert charts == {(name, release) for name, entries in lock["charts"].items() for release in entries}


@pytest.mark.slow
def test_every_schema_is_whole(shelf):
    """Every schema resolves, is closed at its root, knows its kind, has no words, and stays within 2 MB."""
    count = 0
    for project, release in releases(shelf):
        for path in (shelf.folder / project / release).glob("*/*.json"):
            data = path.read_bytes()
            assert len(data) < LIMIT_BYTES, path
            schema = json.loads(data)
            assert schema.get("additionalProperties") is False or schema.get("x-kubernetes-preserve-unknown-fields"), (
                path
            )
            (gvk,) = schema["x-kubernetes-group-version-kind"]
            assert path.name == f"{gvk['kind'].lower()}_{gvk['version']}.json"
            assert b'"description":"' not in data.replace(b'"default":{"description":"', b""), path
            assert not any("$ref" in node for node in nodes(schemas.resolve(schema))), path
            count += 1
    assert count > 500


def nodes(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """Every node of a resolved schema, once."""
    seen: dict[int, dict[str, Any]] = {}
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen[id(node)] = node
        waiting += [node[key] for key in ("items", "additionalProperties", "not") if isinstance(node.get(key), dict)]
        waiting += list(node.get("properties", {}).values())
        waiting += [branch for key in ("allOf", "anyOf", "oneOf") for branch in node.get(key, [])]
    return list(seen.values())


@pytest.mark.parametrize("minor", MINORS)
def test_shared_metadata_is_what_servers_publish(shelf, minor):
    """The ObjectMeta that CRDs get is, field by field, that of the core kinds of every minor."""
    published = schemas.load(shelf.folder / "kubernetes" / minor / "batch" / "job_v1.json")["properties"]["metadata"]
    ours = schemas.resolve(
        {"definitions": {"ObjectMeta": json.loads(json.dumps(crd.METADATA))}, "properties": {"m": ref()}}
    )
    assert plain(ours["properties"]["m"]) == plain(published)


def ref() -> dict[str, Any]:
    """A reference to the only definition."""
    return {"$ref": "#/definitions/ObjectMeta"}


def plain(node: Any) -> Any:
    """A schema without names of types and without what only patches read."""
    if isinstance(node, list):
        return [plain(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        key: plain(value)
        for key, value in node.items()
        if key != schemas.TYPE and not key.startswith("x-kubernetes-patch-")
    }


@pytest.mark.parametrize(
    "place", ["kubernetes/1.36/core/pod_v1.json", "jobset/0.12.0/jobset.x-k8s.io/jobset_v1alpha2.json"]
)
def test_schemas_are_plain_json_schema(shelf, place):
    """A file is a draft-07 schema that any engine reads."""
    schema = json.loads((shelf.folder / place).read_bytes())
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    assert validator.is_valid({"metadata": {"name": "x", "labels": {"a": "b"}}, "status": {}})
    assert not validator.is_valid({"metadata": {"name": "x", "labels": {"a": 5}}})


def test_cyclic_types_resolve(shelf):
    """The schema of CRDs contains itself, so it resolves to a cycle."""
    schema = schemas.load(
        shelf.folder / "kubernetes" / "1.36" / "apiextensions.k8s.io" / "customresourcedefinition_v1.json"
    )
    version = schema["properties"]["spec"]["properties"]["versions"]["items"]
    props = version["properties"]["schema"]["properties"]["openAPIV3Schema"]
    assert props["properties"]["not"] is props


def run_importer(*options: str) -> Done:
    """Run the importer as `make schemas` does."""
    return tool("schemas.py", *options)


def run_with_seed(root: Path, seed: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the importer in a process with a hash seed of its own."""
    command = [sys.executable, str(root / "tools" / "schemas.py"), *options]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONHASHSEED": seed})


def tree(folder: Path) -> dict[str, bytes]:
    """Every file of a folder."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def upstream(tmp_path):
    """A folder of CRD files, charts and OpenAPI documents, as somebody collected them."""
    place = tmp_path / "crds" / "probe-operator" / "v1.2.0"
    place.mkdir(parents=True)
    (place / "example.com_probes.yaml").write_text(yaml.safe_dump(make_crd({"size": {"type": "integer"}})))
    chart = tmp_path / "charts" / "probe-operator" / "v1.2.0" / "probe"
    chart.mkdir(parents=True)
    (chart / "values.yaml").write_text("# words\nimage:\n  tag: v1  # more words\n  on: yes\nsince: 2020-01-01\n")
    (chart / "values.schema.json").write_text(
        json.dumps({"description": "w", "properties": {"description": {"type": "string", "description": "w"}}})
    )
    openapi = tmp_path / "openapi" / "1.35.4"
    openapi.mkdir(parents=True)
    meta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
    components = {
        meta: {"type": "object", "properties": {"name": {"type": "string"}}},
        "io.k8s.api.core.v1.Widget": {
            "type": "object",
            "properties": {
                "metadata": {"allOf": [{"$ref": f"#/components/schemas/{meta}"}], "default": {}},
                "size": {"type": "integer", "format": "int32", "default": 0},
            },
            "x-kubernetes-group-version-kind": [{"group": "", "kind": "Widget", "version": "v1"}],
        },
    }
    document = {"components": {"schemas": components}, "info": {"version": "1.35"}}
    (openapi / "api_v1.json").write_text(json.dumps(document))
    return tmp_path


def test_importer_writes_the_same_bytes_again(root, upstream):
    """A second run, under another hash seed, changes no byte, and stale files are gone."""
    out = upstream / "schemas"
    options = ["--schemas", str(out), "--from", str(upstream / "crds"), "--openapi", str(upstream / "openapi")]
    options += ["--charts", str(upstream / "charts")]
    done = run_importer(*options)
    assert done.returncode == 0, done.stderr
    first = tree(out)
    assert set(first) == {
        "lock.yaml",
        "charts/index.json",
        "charts/probe/1.2.0.yaml",
        "charts/probe/1.2.0.schema.json",
        "kubernetes/1.35/core/widget_v1.json",
        "kubernetes/1.35/index.json",
        "probe-operator/1.2.0/example.com/probe_v1.json",
        "probe-operator/1.2.0/index.json",
    }
    stale = out / "probe-operator" / "1.2.0" / "old.example.com" / "old_v1.json"
    stale.parent.mkdir()
    stale.write_text("{}")
    done = run_with_seed(root, "7", *options)
    assert done.returncode == 0, done.stderr
    assert tree(out) == first
    assert not stale.parent.exists()


def test_charts_keep_values_and_lose_words(upstream):
    """A chart's defaults keep order and values, text stays text, and comments and descriptions go."""
    out = upstream / "schemas"
    run_importer("--schemas", str(out), "--charts", str(upstream / "charts"))
    values = (out / "charts" / "probe" / "1.2.0.yaml").read_text()
    assert values == "image:\n  tag: v1\n  true: true\nsince: '2020-01-01'\n"
    schema = json.loads((out / "charts" / "probe" / "1.2.0.schema.json").read_text())
    assert schema == {"properties": {"description": {"type": "string"}}}


def test_core_types_from_openapi(upstream):
    """A core type is closed, null is allowed where it is optional, and Go's zero values are no defaults."""
    out = upstream / "schemas"
    run_importer("--schemas", str(out), "--openapi", str(upstream / "openapi"))
    schema = json.loads((out / "kubernetes" / "1.35" / "core" / "widget_v1.json").read_text())
    assert schema["properties"]["size"] == {"format": "int32", "type": ["integer", "null"]}
    assert schema["properties"]["metadata"] == {"$ref": "#/definitions/meta.v1.ObjectMeta"}
    assert schema["additionalProperties"] is False


def make_pinned(folder: Path, **pin: str) -> Path:
    """A lock that pins one CRD file of a repository that is a folder beside it."""
    source = folder / "upstream" / "example" / "probe" / "v1.2.0" / "crd.yaml"
    source.parent.mkdir(parents=True)
    source.write_text("a: 1\n---\n" + yaml.safe_dump(make_crd()))
    entry = {"repository": "example/probe", "tag": "v1.2.0", "files": [{"path": "crd.yaml", **pin}]}
    lock = folder / "schemas" / "lock.yaml"
    lock.parent.mkdir()
    lock.write_text(yaml.safe_dump({"projects": {"probe": {"1.2.0": entry}}}))
    return source


def fetch(folder: Path) -> Done:
    """Import what the lock pins."""
    address = (folder / "upstream").as_uri() + "/"
    return run_importer("--schemas", str(folder / "schemas"), "--upstream", address)


def test_a_new_line_in_the_lock_is_enough(tmp_path):
    """A line without a hash is fetched, and gets its hash; the next run compares with it."""
    source = make_pinned(tmp_path)
    done = fetch(tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "schemas" / "probe" / "1.2.0" / "example.com" / "probe_v1.json").is_file()
    lock = yaml.safe_load((tmp_path / "schemas" / "lock.yaml").read_text())
    (file,) = lock["projects"]["probe"]["1.2.0"]["files"]
    assert file["sha256"] == hashlib.sha256(source.read_bytes()).hexdigest()
    assert fetch(tmp_path).returncode == 0


@pytest.mark.parametrize("kind", ["sha256", "blob"])
def test_changed_upstream_files_are_refused(tmp_path, kind):
    """A file that is not what the lock names, by either hash, stops the import."""
    make_pinned(tmp_path, **{kind: "0" * 40})
    done = fetch(tmp_path)
    assert done.returncode != 0
    assert f"probe 1.2.0 crd.yaml: {kind} is" in done.stderr
    assert not (tmp_path / "schemas" / "probe").exists()
