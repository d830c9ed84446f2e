from __future__ import annotations

import itertools
import random
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import ROOT
from trainyard.base.documents import load
from trainyard.base.system import files
from trainyard.change.synth.render.names import Identity, file_names
from trainyard.change.synth.render.text import render_files, render_folder
from trainyard.render.parts.objects import PlainFile
from trainyard.render.tree import index
from trainyard.render.tree.origins import spec_lines


@dataclass(frozen=True)
class Origin:
    """Where an object comes from."""

    file: str = "platform/clusters/test.yaml"
    path: tuple[str | int, ...] = ("queues", "research")


def make(kind: str, name: str, namespace: str | None = None, api_version: str = "v1", **fields: Any) -> dict[str, Any]:
    """Return an object."""
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}


NAMES = {
    "a kind and a name": ([("", "ConfigMap", "nlp", "a")], ["configmap.a.yaml"]),
    "dots stay": (
        [("", "CustomResourceDefinition", "", "jobs.example.com")],
        ["customresourcedefinition.jobs.example.com.yaml"],
    ),
    "colons of RBAC": ([("", "ClusterRole", "", "system:node")], ["clusterrole.system_3anode.yaml"]),
    "capitals of RBAC": ([("", "Role", "a", "X"), ("", "Role", "a", "x")], ["role._58.yaml", "role.x.yaml"]),
    "an underscore is no escape": (
        [("", "Role", "", "a:"), ("", "Role", "", "a_3a")],
        ["role.a_3a.yaml", "role.a_5f3a.yaml"],
    ),
    "two namespaces": ([("", "Role", "a", "x"), ("", "Role", "b", "x")], ["role.a.x.yaml", "role.b.x.yaml"]),
    "one in no namespace": ([("", "Role", "", "x"), ("", "Role", "b", "x")], ["role.x.yaml", "role.b.x.yaml"]),
    "two groups": (
        [("batch", "Job", "n", "x"), ("batch.volcano.sh", "Job", "n", "x")],
        ["job.batch.n.x.yaml", "job.batch.volcano.sh.n.x.yaml"],
    ),
    "the core group and another": (
        [("", "Service", "n", "x"), ("serving.knative.dev", "Service", "n", "x")],
        ["service.n.x.yaml", "service.serving.knative.dev.n.x.yaml"],
    ),
    "kinds that differ in case": (
        [("a", "JobSet", "", "x"), ("b", "Jobset", "", "x")],
        ["jobset.a.x.yaml", "jobset.b.x.yaml"],
    ),
    "others keep their short names": (
        [("", "Role", "a", "x"), ("", "Role", "b", "x"), ("", "Role", "b", "y")],
        ["role.a.x.yaml", "role.b.x.yaml", "role.y.yaml"],
    ),
}


@pytest.mark.parametrize(("identities", "expected"), NAMES.values(), ids=NAMES)
def test_file_names(identities, expected) -> None:
    """A name has namespace and group where it would else be another object's."""
    given_ = [Identity(*identity) for identity in identities]
    assert [file_names(given_)[item] for item in given_] == expected


def test_forms_of_a_name_never_meet() -> None:
    """A namespace in one name and a dot in another may spell the same; a digest then tells them apart."""
    identities = [Identity("", "Role", "a", "x"), Identity("", "Role", "b", "x"), Identity("", "Role", "", "a.x")]
    for order in itertools.permutations(identities):
        names = file_names(order)
        assert len(set(names.values())) == 3
        assert names == file_names(identities)
        assert names[identities[2]] == "role.a.x.yaml"


ODD = st.text(alphabet="aAbB.:-_%é", min_size=1, max_size=6)
IDENTITIES = st.lists(
    st.builds(
        Identity,
        st.sampled_from(["", "a", "a.b"]),
        st.sampled_from(["Role", "ROLE", "a"]),
        st.sampled_from(["", "a", "b"]),
        ODD,
    ),
    unique=True,
    max_size=40,
)


@given(IDENTITIES)
def test_file_names_never_collide(identities: list[Identity]) -> None:
    """Whatever the objects are called, their files differ, also where the file system folds case."""
    names = file_names(identities)
    assert len({name.casefold() for name in names.values()}) == len(identities)
    assert all(name.isascii() and "/" not in name and len(name) <= 255 for name in names.values())
    shuffled = list(identities)
    random.Random(1).shuffle(shuffled)
    assert file_names(shuffled) == names


def test_long_names_stay_apart_and_short_enough() -> None:
    """A name of 253 characters fits into a file name, and two that begin alike differ."""
    long = "a" * 252
    names = file_names([Identity("", "Role", "", long + end) for end in "bc"])
    assert len(set(names.values())) == 2
    assert all(len(name) <= 255 for name in names.values())


def test_one_object_twice_is_refused() -> None:
    """Two files of one object would overwrite each other in the cluster."""
    with pytest.raises(ValueError, match="Role 'x' exists twice"):
        render_folder("test", "platform", [(make("Role", "x", "n"), Origin())] * 2)


def test_an_object_is_one_file_with_its_fields_in_order() -> None:
    """apiVersion, kind, metadata and spec first, then what else there is, and all below sorted."""
    value = {
        "zeta": [{"b": 1, "a": {"d": None, "c": "no"}}],
        "spec": {"b": "1", "a": 2},
        "data": {"x": "y"},
        **make("ConfigMap", "x", "nlp"),
    }
    value["metadata"]["labels"] = {"b": "2", "a": "1"}
    rendered = render_folder("test", "platform", [(value, Origin())])
    assert rendered.files["configmap.x.yaml"] == (
        'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  labels:\n    a: "1"\n    b: "2"\n  name: x\n  namespace: nlp\n'
        'spec:\n  a: 2\n  b: "1"\ndata:\n  x: "y"\nzeta:\n- a:\n    c: "no"\n    d: null\n  b: 1\n'
    )
    assert load(rendered.files["configmap.x.yaml"].encode(), file="x")[0][0].value == value


def test_the_order_of_objects_does_not_matter() -> None:
    """Files and index are sorted by name."""
    objects = [(make("ConfigMap", name, "n"), Origin()) for name in "cab"]
    first = render_folder("test", "platform", objects)
    second = render_folder("test", "platform", objects[::-1])
    assert list(first.files) == list(second.files) == sorted(first.files)
    assert first == second


def test_a_file_that_is_no_object_is_in_the_index_under_its_name() -> None:
    """So it leads to its spec and is known as ours; its text is left as it is."""
    files = [(PlainFile(name, "# text\n", ("pools", "h100")), Origin("clusters/a.yaml", ("pools",))) for name in "ba"]
    rendered = render_files("test", "nodes/h100", files)
    assert dict(rendered.files) == {"a": "# text\n", "b": "# text\n"}
    assert index.load(index.dump("nodes/h100", rendered.index).encode(), "nodes/h100") == rendered.index
    assert rendered.index["a"] == index.Entry("", "file", None, "a", "clusters/a.yaml", ("pools",))


def test_the_bytes_are_the_same_under_every_hash_seed() -> None:
    """Nothing is iterated in the order of a hash."""
    script = (
        "from trainyard.change.synth.render.text import render_folder\n"
        "from trainyard.render.tree import index\n"
        "class O:\n file='f'\n path=('a', 0)\n"
        "names = {f'n{i}' for i in range(50)}\n"
        "def make(n):\n"
        " return {'apiVersion': 'v1', 'kind': 'X', 'metadata': {'name': n}, 'data': {m: m for m in names}}\n"
        "r = render_folder('c', 'f', [(make(n), O) for n in names])\n"
        "print(''.join(r.files.values()), index.dump('f', r.index))\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT / "platform")},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    }
    assert len(outputs) == 1


def test_the_index_is_read_back_as_written() -> None:
    """Each file has its object and the spec field that it comes from."""
    objects = [
        (make("LocalQueue", "research", "nlp", "kueue.x-k8s.io/v1beta2"), Origin(path=("queues", "research", 0)))
    ]
    rendered = render_folder(
        "test", "teams/nlp", [*objects, (make("Namespace", "nlp"), Origin("platform/teams/nlp.yaml", ()))]
    )
    text = index.dump(rendered.folder, rendered.index)
    assert index.load(text.encode(), "teams/nlp") == rendered.index
    assert index.load(text.encode(), "teams/other") is None
    assert rendered.index["localqueue.research.yaml"].field == ("queues", "research", 0)
    assert rendered.index["localqueue.research.yaml"].ref.namespace == "nlp"
    assert len(text.splitlines()) == 4 + len(objects) + 2


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"{}",
        b'{"folder": "x"}',
        b'{"folder": "x", "files": {"a": {}}}',
        b"\xff",
        b'{"folder": "x", "files": {"a": {"apiVersion": "v1", "kind": "X", "name": "n", "spec": "f", "field": [1.5]}}}',
    ],
)
def test_what_is_no_index_is_none(data: bytes) -> None:
    """A damaged index owns no file."""
    assert index.load(data, "x") is None


def test_a_generated_file_leads_to_the_line_of_its_spec(tmp_path: Path) -> None:
    """The index has no lines, so they are those of the spec as it is now."""
    rendered = render_folder("test", "platform", [(make("ClusterQueue", "research"), Origin())])
    files.write(tmp_path / "generated/test/index/platform.json", index.dump(rendered.folder, rendered.index))
    spec = tmp_path / "platform/clusters/test.yaml"
    files.write(spec, "# a comment\nqueues:\n  batch: {}\n  research: {}\n")
    path = "generated/test/platform/clusterqueue.research.yaml"
    assert str(spec_lines(tmp_path)(path)) == "platform/clusters/test.yaml:4:13"
    files.write(spec, "pools: {}\nqueues: {}\n")
    assert str(spec_lines(tmp_path)(path)) == "platform/clusters/test.yaml:2:9"
    assert spec_lines(tmp_path)("generated/test/platform/other.yaml") is None
    assert spec_lines(tmp_path)("README.md") is None
    spec.unlink()
    assert str(spec_lines(tmp_path)(path)) == "platform/clusters/test.yaml"
