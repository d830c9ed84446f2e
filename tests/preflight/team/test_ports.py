"""A team opens ports of pods; those of a Service are told where platform/extra says what they lead to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from make import TEAM, write_repository
from trainyard.base.documents import dump
from trainyard.judge import preflight


def found(root: Path, egress: dict[str, Any], *ports: dict[str, Any], namespace: str = "feast") -> list[str]:
    """Return what is said of a team's egress beside a Service with these ports."""
    write_repository(root, jobs={}, teams={"nlp": {**TEAM, "egress": [egress]}})
    metadata = {"name": "store", "namespace": namespace}
    service = {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": {"ports": list(ports)}}
    path = root / "platform/extra/test/platform/store.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(dump(service))
    findings = preflight.check_repository(root).findings
    return [f"{item.path}: {item.message}" for item in findings if item.rule == "spec/egress-port"]


HTTP = {"port": 80, "targetPort": 6566}


def test_a_port_of_a_service_is_told(tmp_path):
    """With the port at which its pods listen."""
    said = found(tmp_path, {"namespace": "feast", "ports": [80]}, HTTP)
    message = "port 80 is that of a Service in 'feast', whose pods listen at 6566; write 6566"
    assert said == [f"egress[0].ports[0]: {message}"]


RIGHT: dict[str, tuple[dict[str, Any], list[dict[str, Any]], str]] = {
    "the port of the pods": ({"namespace": "feast", "ports": [6566]}, [HTTP], "feast"),
    "both": ({"namespace": "feast", "ports": [80, 6566]}, [HTTP], "feast"),
    "one port for both": ({"namespace": "feast", "ports": [80]}, [{"port": 80}], "feast"),
    "a port by its name": ({"namespace": "feast", "ports": [80]}, [{"port": 80, "targetPort": "http"}], "feast"),
    "a Service elsewhere": ({"namespace": "feast", "ports": [80]}, [HTTP], "other"),
    "pods that listen there, too": (
        {"namespace": "feast", "ports": [80]},
        [HTTP, {"name": "more", "port": 81, "targetPort": 80}],
        "feast",
    ),
    "another protocol": ({"namespace": "feast", "ports": ["80/UDP"]}, [HTTP], "feast"),
}


@pytest.mark.parametrize(("egress", "ports", "namespace"), RIGHT.values(), ids=RIGHT)
def test_a_port_of_pods_is_none(tmp_path, egress, ports, namespace):
    """Nor is one that may be theirs."""
    assert found(tmp_path, egress, *ports, namespace=namespace) == []
