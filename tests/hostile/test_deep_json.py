"""JSON inside of texts of an object is as deep as somebody likes, and ends no command."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from command import call
from conftest import ROOT

DEEP = "[" * 100_000

ANNOTATIONS = (
    "k8s.v1.cni.cncf.io/networks",
    "networking.gke.io/interfaces",
    "kubectl.kubernetes.io/last-applied-configuration",
    "scheduler.alpha.kubernetes.io/tolerations",
    "kueue.x-k8s.io/podset-slice-required-topology-constraints",
)


@pytest.mark.parametrize("name", ANNOTATIONS)
def test_an_annotation_is_judged(name: str, tmp_path: Path) -> None:
    """A pod, and a pod of a job in a queue, with such a text are judged like any other."""
    about = {"name": "p", "namespace": "n", "annotations": {name: DEEP}}
    spec = {"containers": [{"name": "c", "image": "a", "env": [{"name": "NCCL_SOCKET_IFNAME", "value": "eth9"}]}]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": about, "spec": spec}
    template = {"metadata": {"annotations": {name: DEEP}}, "spec": {**spec, "restartPolicy": "Never"}}
    queue = {"kueue.x-k8s.io/queue-name": "q"}
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {**about, "labels": queue},
        "spec": {"suspend": True, "template": template},
    }
    (tmp_path / "x.yaml").write_text("\n---\n".join(map(json.dumps, (pod, job))))
    done = call(tmp_path, "validate", "x.yaml")
    assert done.returncode in {0, 1}, done.stderr
    assert "2 objects" in done.stdout + done.stderr


def readers(tree: ast.AST) -> Iterator[ast.Try]:
    """Yield what reads JSON and expects that a text is none."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Try) and any(
            ast.unparse(one_call).startswith("json.loads") for one_call in calls(node.body)
        ):
            yield node


def calls(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """Yield the calls of statements."""
    yield from (node for item in body for node in ast.walk(item) if isinstance(node, ast.Call))


def test_whoever_expects_no_json_expects_deep_json() -> None:
    """Python's reader raises RecursionError for what is nested, which is no ValueError."""
    found = 0
    for file in (*(ROOT / "platform").rglob("*.py"), *(ROOT / "policies").glob("*.py")):
        for node in readers(ast.parse(file.read_text())):
            caught = {
                name
                for handler in node.handlers
                if handler.type
                for name in ast.unparse(handler.type).strip("()").split(", ")
            }
            found += "ValueError" in caught
            assert not caught & {"ValueError", "Exception"} or caught & {"RecursionError", "Exception"}, (
                f"{file.relative_to(ROOT)}:{node.lineno}"
            )
    assert found
