"""Rules of a cluster that has every exporter, and what Prometheus' own program says of them."""

from __future__ import annotations

import hashlib
import json
import subprocess
from pathlib import Path
from typing import Any

import yaml

from everything import TRACKING
from make import CLUSTER, IMAGE, make_cluster
from trainyard.render.clusters import alerts
from trainyard.specs import Cluster
from trainyard.specs.models.monitoring import Monitoring

HERE = Path(__file__).parent
CASES = sorted((HERE / "cases").glob("*.yaml"))
RECORDED = HERE / "recorded.json"
VARIABLE = "TRAINYARD_PROMTOOL_ORACLE"

OPERATORS = {
    "kueue": "0.19.2",
    "jobset": "0.12.0",
    "trainer": "2.3.0",
    "kuberay": "1.6.2",
    "volcano": "1.15.1",
    "cert-manager": "1.21.1",
    "gpu-operator": "26.7.0",
    "amd-gpu-operator": "1.5.1",
    "kube-prometheus-stack": "88.5.3",
    "mlflow": "3.17.2",
}
FABRIC = {"type": "infiniband", "attach": "rdma-shared", "resources": ["rdma/ib"], "subnetManager": "OpenSM"}


def everything(**monitoring: Any) -> Cluster:
    """Return a cluster that has every exporter, a fabric, a test of idle nodes, and a virtual cluster."""
    operators = {name: {"version": version} for name, version in {**OPERATORS, "vcluster": "0.36.1"}.items()}
    tested = {
        "queues": {"research": {**CLUSTER["queues"]["research"], "cohort": "all"}},
        "health": {"burnIn": {"image": IMAGE, "cohort": "all"}},
    }
    tested |= {"tracking": {"mlflow": TRACKING["mlflow"]}}
    lab = {"team": "nlp", "pool": "cpu", "cpus": 4, "memory": "8Gi", "storage": "local"}
    tested |= {"virtual_clusters": {"lab": lab}}
    return make_cluster(operators=operators, fabric=FABRIC, monitoring={"argocd": True, **monitoring}, **tested)


def rule_file(cluster: Cluster) -> dict[str, Any]:
    """Return the rules of a cluster as one file of Prometheus."""
    assert isinstance(cluster.monitoring, Monitoring)
    groups = alerts.of_cluster(cluster, cluster.monitoring)
    return {"groups": [{"name": name, "rules": rules} for name, rules in groups.items()]}


def digest() -> str:
    """Return the digest of the rules and of all cases, which a recording is of."""
    found = hashlib.sha256(json.dumps(rule_file(everything()), sort_keys=True).encode())
    for path in CASES:
        found.update(path.read_bytes())
    return found.hexdigest()


def check(program: str, folder: Path, cluster: Cluster) -> tuple[int, str]:
    """Let Prometheus parse the rules of a cluster; return its exit code and what it says."""
    file = folder / "rules.yaml"
    file.write_text(yaml.safe_dump(rule_file(cluster), width=1000), encoding="utf-8")
    return run(program, "check", "rules", "--lint=all", "--lint-fatal", str(file))


def test(program: str, folder: Path, case: Path) -> tuple[int, str]:
    """Let Prometheus evaluate the rules over the series of a file of cases."""
    value = yaml.safe_load(case.read_text(encoding="utf-8"))
    (folder / "rules.yaml").write_text(yaml.safe_dump(rule_file(everything()), width=1000), encoding="utf-8")
    file = folder / case.name
    file.write_text(
        yaml.safe_dump({"rule_files": ["rules.yaml"], "evaluation_interval": "1m", **value}), encoding="utf-8"
    )
    return run(program, "test", "rules", str(file))


def run(program: str, *arguments: str) -> tuple[int, str]:
    """Run the program."""
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr
