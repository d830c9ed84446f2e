"""What `new` writes passes on every cluster of ours, on new clusters of every shape, and for new teams."""

from __future__ import annotations

import shutil

import pytest

from command import call
from conftest import ROOT
from trainyard import __version__
from trainyard.base.documents import dump
from trainyard.change.plan.read.findings import everything
from trainyard.faces.cli._ask import Asker
from trainyard.faces.drafts.cluster import ClusterDraft
from trainyard.faces.drafts.job import HEADER, JobDraft
from trainyard.judge.preflight import check_repository
from trainyard.render.sizing.gpus import offers
from trainyard.specs.load import read_repository
from trainyard.specs.shapes import names

IMAGE = "registry.example.com/nlp/x@sha256:6b1f0c2e9d8a47530f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a6978"


def drafts(specs):
    """Yield a job for every queue, pool, part of a GPU, one node and two if there are, with and without checkpoints."""
    number = 0
    for cluster, declared in specs.clusters.items():
        for name, queue in declared.queues.items():
            for pool in queue.nominal_quota:
                parts = [offer.profile for offer in offers(declared.pools[pool]) if offer.profile]
                counts = ["1", "2"] if declared.pools[pool].nodes > 1 else ["1"]
                for nodes, part in [("1", part) for part in parts] or [(count, None) for count in counts]:
                    for saves in (False, True):
                        number += 1
                        draft = JobDraft(specs, {})
                        given = {"name": f"{queue.teams[0]}/j{number}", "cluster": cluster, "pool": pool, "queue": name}
                        given |= {"nodes": nodes} | ({"gpus": part} if part else {})
                        draft.answers = dict(given)
                        volumes = draft.volumes() if saves else ()
                        draft.answers = {}
                        given |= {"image": IMAGE, "program": "train.py"}
                        given |= {"checkpoint": volumes[0] if volumes else "none"}
                        Asker(given, terminal=False).fill(draft)
                        yield draft


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A repository with our clusters, one more of each shape, a new team in all queues, and jobs for all of that."""
    root = tmp_path_factory.mktemp("written")
    shutil.copytree(ROOT / "platform", root / "platform", ignore=shutil.ignore_patterns("trainyard", "__pycache__"))
    (root / "jobs").mkdir()
    queues = [
        f"{name}/{queue}"
        for name, one_cluster in read_repository(root).specs.clusters.items()
        for queue in one_cluster.queues
    ]
    arguments = ("--queues", ",".join(queues), "--secrets", "wandb,hugging.face")
    assert call(root, "new", "team", "robots", *arguments).returncode == 0
    for shape in names():
        cluster = ClusterDraft(read_repository(root).specs, frozenset())
        given = {"name": f"of-{shape}", "shape": shape, "nodes": "36", "teams": "robots,nlp"}
        Asker(given, terminal=False).fill(cluster)
        (root / "platform/clusters" / f"of-{shape}.yaml").write_text(cluster.file())
    for draft in drafts(read_repository(root).specs):
        path = root / "jobs" / f"{draft.answers['name']}.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(HEADER + dump(draft.fields()))
    return root


def test_what_new_writes_passes(written):
    """Nothing is wrong with any of it, and on the fabric of ours warnings are on runs that save or recover nothing."""
    checked = check_repository(written)
    assert [finding for finding in checked.findings if finding.is_error] == []
    warned = [
        finding
        for finding in checked.findings
        if finding.rule not in {"rdma-fabric-unused", "ckp-interval", "ckp-none", "kq-recovery-fixed"}
    ]
    assert [(item.rule, item.location.file, item.message) for item in warned] == []
    assert len(checked.runs) > 100


@pytest.mark.slow
@pytest.mark.node
def test_the_servers_take_what_new_writes(written):
    """Objects that are rendered of it are valid too."""
    result, _ = everything(written, __version__)
    assert {finding.rule for finding in result.findings if finding.is_error} == {"run/stale"}
    assert {item.verdict for item in result.objects} == {"valid"}


@pytest.fixture
def root(tmp_path):
    """A repository with our clusters and teams, without jobs."""
    shutil.copytree(ROOT / "platform", tmp_path / "platform", ignore=shutil.ignore_patterns("trainyard", "__pycache__"))
    return tmp_path


def test_a_new_team_is_told_of(root):
    """The files that were written are named, and what is left to do."""
    before = (root / "platform/clusters/atlas.yaml").read_text()
    done = call(root, "new", "team", "robots", "--queues", "atlas/research", "--size", "5Ti")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "wrote platform/teams/robots.yaml, platform/clusters/atlas.yaml; next: trainyard new job robots/<job>\n"
        "add these lines to CODEOWNERS, so that the team owns its jobs:\n"
        "/jobs/robots/                        @<organisation>/robots\n"
        "/generated/*/runs/robots/            @<organisation>/robots\n"
        "/generated/*/ledger/robots/          @<organisation>/robots\n"
        "/generated/*/index/runs/robots/      @<organisation>/robots\n"
        "/generated/*/index/runs/robots.json  @<organisation>/robots\n"
    )
    after = (root / "platform/clusters/atlas.yaml").read_text()
    assert after == before.replace("[nlp, vision]", "[nlp, vision, robots]", 1)
    assert "    storage: shared\n    size: 5Ti\n" in (root / "platform/teams/robots.yaml").read_text()


def test_a_team_without_a_queue_is_told_what_lacks(root):
    """No cluster's file is changed, and the last line says where the team is to be added."""
    done = call(root, "new", "team", "robots", "--queues", "none")
    assert done.stdout.splitlines()[-1].startswith("no queue admits the team yet; add robots to the teams of a queue")
    assert done.stdout.startswith("wrote platform/teams/robots.yaml; next: ")


def test_a_new_cluster_is_told_of(root):
    """Machines, operators and a queue of all machines are there; what is not, is said."""
    done = call(root, "new", "cluster", "eos", "--shape", "mi300x", "--nodes", "4", "--teams", "vision")
    assert (done.returncode, done.stderr, len(done.stdout.splitlines())) == (0, "", 2)
    cluster = read_repository(root).specs.clusters["eos"]
    assert set(cluster.operators) == {"kueue", "jobset", "amd-gpu-operator", "cert-manager"}
    assert cluster.queues["training"].nominal_quota["mi300x"].gpus == 32


REFUSED = {
    "a team that is there": (["team", "nlp"], "team 'nlp' exists already"),
    "a team of the system": (["team", "kube-system"], "is taken by the system"),
    "a team in capitals": (["team", "Speech"], "must be lower-case letters"),
    "a team out of its folder": (["team", "../x"], "must be lower-case letters"),
    "a team nobody says where": (["team", "robots"], "--queues is missing: queues that admit the team"),
    "a queue of no cluster": (["team", "robots", "--queues", "research"], "did you mean"),
    "a queue mistyped": (["team", "robots", "--queues", "atlas/reserch"], "did you mean 'atlas/research'?"),
    "a size without a unit": (["team", "robots", "--queues", "atlas/research", "--size", "5"], "5Gi"),
    "storage of one node": (
        ["team", "robots", "--queues", "kind/laptop", "--storage", "standard"],
        "storage 'standard' does not exist; there are: none",
    ),
    "a cluster that is there": (["cluster", "atlas"], "cluster 'atlas' exists already"),
    "a shape mistyped": (["cluster", "eos", "--shape", "dgx-h1000"], "did you mean 'dgx-h100'?\n"),
    "a shape by its provider's name": (
        ["cluster", "eos", "--shape", "p5en.48xlarge"],
        "did you mean 'aws-p5en-48xlarge'?\n",
    ),
    "a shape like none": (["cluster", "eos", "--shape", "supercomputer"], "there are: aws-g5"),
    "nodes in words": (["cluster", "eos", "--shape", "dgx-h100", "--nodes", "many"], "must be a whole number"),
    "a team mistyped": (
        ["cluster", "eos", "--shape", "dgx-h100", "--nodes", "2", "--teams", "nlpp"],
        "did you mean 'nlp'?",
    ),
    "another Kubernetes": (
        ["cluster", "eos", "--shape", "cpu-64", "--nodes", "2", "--teams", "nlp", "--kubernetes", "1.20"],
        "kubernetes '1.20' is not supported; there are: 1.34, 1.35, 1.36, 1.37",
    ),
}


@pytest.mark.parametrize(("arguments", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused_is_not_written(root, arguments, message):
    """A sentence says why, and no file has changed."""
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    done = call(root, "new", *arguments)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert message in done.stderr
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before
