"""Each job gets the verdict that Kueue's decision comes to, with a witness or a reason."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from command import call
from conftest import ROOT
from kueue.recorded import CLUSTERS, read
from make import CLUSTER, IMAGE, JOB, fields, write_repository
from trainyard.judge.admission.asks import asks
from trainyard.judge.admission.before import Before
from trainyard.judge.admission.changes import Side
from trainyard.judge.admission.rules import findings
from trainyard.judge.admission.site import site
from trainyard.judge.admission.verdicts import of_cluster, verdicts
from trainyard.judge.preflight import check_repository

ASKED = ("cpu", "memory", "ephemeral-storage", "nvidia.com/gpu")
GPUS = {"gpu": {"gpus": 16}}
TWO = {"teams": ["nlp"], "nominalQuota": GPUS, "cohort": "all"}
FABRIC = {
    "type": "infiniband",
    "attach": "rdma-shared",
    "resources": ["rdma/shared_ib"],
    "memlock": "provided",
    "subnetManager": "OpenSM",
    "pools": ["gpu"],
}
RECLAIMS = {**TWO, "preemption": {"reclaimWithinCohort": "Any"}}

WITHOUT_TOPOLOGY = {
    "version": "0.19.2",
    "values": {"controllerManager": {"featureGates": [{"name": "TopologyAwareScheduling", "enabled": False}]}},
}

SEVERAL = {
    "gpu": {"shape": "dgx-h100", "nodes": 2, "racks": 2},
    "old": {"shape": "dgx-a100", "nodes": 4, "racks": 2},
}
SEVERAL_QUOTA = {"gpu": {"gpus": 16}, "old": {"gpus": 16}}
ALONE = {"queues": {"research": {"teams": ["nlp"], "nominalQuota": {"gpu": {"gpus": 24}}}}}

CASES = {
    "a job that has all it needs fits, in one rack if it asks for one": (
        {},
        {"train": {"topology": {"required": "rack"}}},
        {"train": ("fits", "2 pods in flavor gpu on 2 hosts of rack-0")},
    ),
    "a job of more nodes than the queue has never fits, and is told how many do": (
        {},
        {"train": {"nodes": 7}},
        {
            "train": (
                "never fits",
                "pod set worker ",
                "needs 56 nvidia.com/gpu of flavor gpu, but its queue can get at most 32; it would fit with nodes: 4",
            )
        },
    ),
    "a job that no rack holds never fits, whatever the quota": (
        {},
        {"train": {"nodes": 3, "topology": {"required": "rack"}}},
        {"train": ("never fits", "allows to fit only 2 out of 3 pod(s); it would fit with nodes: 2")},
    ),
    "a job whose topology Kueue does not look at goes anywhere, and is told so": (
        {"operators": {**CLUSTER["operators"], "kueue": WITHOUT_TOPOLOGY}},
        {"train": {"nodes": 3, "topology": {"required": "rack"}}, "other": {"nodes": 1}},
        {
            "train": (
                "fits",
                "3 pods in flavor gpu on 3 hosts of rack-0, rack-1; its topology is ignored: Kueue's gate ",
                "TopologyAwareScheduling is off",
            ),
            "other": ("fits", "1 pod in flavor gpu on 1 host of rack-"),
        },
    ),
    "a job that is larger than its queue borrows what another lends": (
        {"queues": {"research": TWO, "other": TWO}},
        {"train": {"nodes": 3}},
        {
            "train": (
                "fits by borrowing",
                "queue research borrows 8 nvidia.com/gpu of flavor gpu with cpu and memory from other; ",
                "3 pods in flavor gpu on 3 hosts",
                "; not while the other queues of its cohort use all of their own quota",
            )
        },
    ),
    "who lends nothing is none of those whose quota a job has": (
        {"queues": {"research": TWO, "other": TWO, "close": {**TWO, "lendingLimit": {"gpu": {"gpus": 0}}}}},
        {"train": {"nodes": 3}},
        {
            "train": (
                "fits by borrowing",
                "queue research borrows 8 nvidia.com/gpu of flavor gpu with cpu and memory from other;",
            )
        },
    ),
    "a job for which GPUs are free on no one node is told so, whatever flavor Kueue has looked at last": (
        {},
        {
            **{name: {"nodes": 1, "gpusPerNode": 6, "priority": "high"} for name in "abcd"},
            "train": {"nodes": 1, "gpusPerNode": 4, "cpusPerNode": 8, "memoryPerNode": "8Gi"},
        },
        {
            "train": (
                "waits for",
                "room in flavor gpu, used by nlp/a, nlp/b, nlp/c and 1 more: Insufficient nvidia.com/gpu on 4 hosts",
            )
        },
    ),
    "a job waits for those that Kueue takes before it": (
        {},
        {"first": {"nodes": 3, "priority": "high"}, "second": {}},
        {
            "first": ("fits", "3 pods in flavor gpu"),
            "second": ("waits for", "8 nvidia.com/gpu of flavor gpu in queue research, used by nlp/first"),
        },
    ),
    "a job behind the first of a strict queue waits for that one": (
        {"queues": {"research": {**CLUSTER["queues"]["research"], "queueingStrategy": "StrictFIFO"}}},
        {"a": {"nodes": 3, "priority": "high"}, "b": {}, "c": {"nodes": 1, "priority": "low"}},
        {"b": ("waits for", "used by nlp/a"), "c": ("waits for", "nlp/b, which is first in queue research")},
    ),
    "a queue takes back what it lent": (
        {"queues": {"research": RECLAIMS, "other": RECLAIMS}},
        {
            "large": {"nodes": 3, "queue": "other"},
            "one": {"nodes": 1, "priority": "high"},
            "two": {"nodes": 1, "priority": "low"},
        },
        {
            "large": ("waits for", "nlp/two, which preempts it"),
            "one": ("fits", "1 pod in flavor gpu"),
            "two": ("fits after preempting", "nlp/large; 1 pod in flavor gpu on 1 host"),
        },
    ),
    "a job of a queue that is held waits for whoever holds it": (
        {"queues": {"research": {**CLUSTER["queues"]["research"], "stopPolicy": "Hold"}}},
        {"train": {}},
        {"train": ("waits for", "queue research, which is stopped")},
    ),
    "an elastic job starts with the pods that it gets": (
        {"recoveryMinutes": 0, "queues": {"research": {"teams": ["nlp"], "nominalQuota": {"gpu": {"gpus": 24}}}}},
        {"train": {"nodes": 4, "minNodes": 2, "kind": "Job"}},
        {"train": ("fits partially", "3 of 4 pods; 3 pods in flavor gpu on 3 hosts")},
    ),
    "an elastic job is told how many pods would do at the least": (
        {"recoveryMinutes": 0, "queues": {"research": {"teams": ["nlp"], "nominalQuota": {"gpu": {"gpus": 24}}}}},
        {"train": {"nodes": 4, "minNodes": 4, "kind": "Job"}},
        {"train": ("never fits", "; it would fit with minNodes: 3 or gpusPerNode: 6")},
    ),
    "a job that is too large for its queue is told of another one of its team": (
        {
            "queues": {
                "research": {"teams": ["nlp"], "nominalQuota": {"gpu": {"gpus": 8}}},
                "other": {"teams": ["nlp"], "nominalQuota": {"gpu": {"gpus": 16}}},
            }
        },
        {"train": {"gpusPerNode": 8}},
        {"train": ("never fits", "; it would fit with nodes: 1 or gpusPerNode: 4 or queue: other")},
    ),
    "a job is told of another pool of its queue where it would fit": (
        {
            "pools": {**CLUSTER["pools"], "large": {"shape": "dgx-h100", "nodes": 2, "racks": 1}},
            "queues": {"research": {"teams": ["nlp"], "nominalQuota": {"gpu": {"gpus": 4}, "large": {"gpus": 16}}}},
        },
        {"train": {"nodes": 1, "gpusPerNode": 8}},
        {"train": ("never fits", "; it would fit with gpusPerNode: 4 or pool: large")},
    ),
    "a job that wants one domain is told of a larger one, and that it may be in several": (
        {
            "topology": [{"block": "example.com/block"}, {"rack": "example.com/rack"}],
            "pools": {**CLUSTER["pools"], "gpu": {"shape": "dgx-h100", "nodes": 4, "racks": 2}},
        },
        {"train": {"nodes": 3, "topology": {"required": "rack"}}},
        {
            "train": (
                "never fits",
                "; it would fit with nodes: 2 or topology: {required: block} or topology: {preferred: rack}",
            )
        },
    ),
    "an array is told how many of its indices may run at once": (
        {},
        {"train": {"launcher": "python", "nodes": None, "gpusPerNode": 1, "array": {"of": 100, "parallel": 40}}},
        {"train": ("never fits", "but its queue can get at most 32; it would fit with array.parallel: 32")},
    ),
    "a role that is too large is named": (
        {},
        {
            "train": {
                "launcher": "python",
                "nodes": 1,
                "roles": {"replay": {"nodes": 9, "pool": "cpu", "cpusPerNode": 8, "memoryPerNode": "8Gi"}},
            }
        },
        {"train": ("never fits", "; it would fit with roles.replay.nodes: 4 or roles.replay.cpusPerNode: 4")},
    ),
    "a pod whose shares do not fit beside another is told of both": (
        {},
        {
            "train": {
                "nodes": 1,
                "cpusPerNode": 208,
                "memoryPerNode": "1934Gi",
                "containers": [
                    {"name": "a", "image": IMAGE, "resources": {"limits": {"cpu": "4", "memory": "16Gi"}}},
                ],
            }
        },
        {"train": ("never fits", "; it would fit with cpusPerNode: 204 and memoryPerNode: 1918Gi")},
    ),
    "a job that says more memory than there is is told how much fits": (
        {},
        {"train": {"nodes": 1, "memoryPerNode": "1950Gi"}},
        {"train": ("never fits", 'excluded: resource "memory": 4; it would fit with memoryPerNode: 1934Gi')},
    ),
    "a step of a pipeline has the cluster to itself, and nobody waits for it": (
        {},
        {"train": {"after": [], "nodes": 4, "priority": "high"}, "other": {"nodes": 4}},
        {
            "train": ("fits alone", "when it is started: 4 pods in flavor gpu on 4 hosts of rack-0, rack-1"),
            "other": ("fits", "4 pods in flavor gpu"),
        },
    ),
    "steps are judged where nothing else is there": (
        {},
        {"train": {"after": []}},
        {"train": ("fits alone", "when it is started: 2 pods in flavor gpu on 2 hosts of rack-0")},
    ),
    "a step that no rack holds never fits, and is told what would": (
        {"pipelines": {"image": IMAGE, "serviceAccount": "runner"}},
        {"train": {"after": [], "nodes": 3, "topology": {"required": "rack"}}},
        {"train": ("never fits", "allows to fit only 2 out of 3 pod(s); it would fit with nodes: 2")},
    ),
    "a step borrows what others may need when it comes": (
        {"queues": {"research": TWO, "other": TWO}},
        {"train": {"after": [], "nodes": 3}},
        {
            "train": (
                "fits alone",
                "when it is started, by borrowing: queue research borrows 8 nvidia.com/gpu of flavor gpu",
                "; not while the other queues of its cohort use all of their own quota",
            )
        },
    ),
    "a step of a queue that is held waits for whoever holds it, too": (
        {"queues": {"research": {**CLUSTER["queues"]["research"], "stopPolicy": "Hold"}}},
        {"train": {"after": []}},
        {"train": ("waits for", "when it is started: queue research, which is stopped")},
    ),
    "a job of several pools takes the first with quota, and the next while that is used": (
        {"pools": SEVERAL, "queues": {"research": {"teams": ["nlp"], "nominalQuota": SEVERAL_QUOTA}}},
        {name: {"pool": ["old", "gpu"]} for name in ("a", "b", "c")},
        {
            "a": ("fits", "2 pods in flavor gpu on 2 hosts of rack-0"),
            "b": ("fits", "2 pods in flavor old on 2 hosts of rack-0"),
            "c": ("waits for", "of flavor gpu in queue research", "used by nlp/a"),
        },
    ),
    "a job that names the memory of its GPUs takes a pool that has it": (
        {"pools": SEVERAL, "queues": {"research": {"teams": ["nlp"], "nominalQuota": SEVERAL_QUOTA}}},
        {"small": {"pool": None, "gpuMemory": "40Gi"}, "large": {"pool": None, "gpuMemory": "81920Mi"}},
        {"small": ("fits", "in flavor gpu"), "large": ("fits", "in flavor old")},
    ),
    "without racks, the node as a level fills one node after the other": (
        {
            "topology": [{"node": "kubernetes.io/hostname"}],
            "pools": {"gpu": {"shape": "dgx-h100", "nodes": 3}},
            **ALONE,
        },
        {**{f"part-{index}": {"nodes": 1, "gpusPerNode": 2} for index in range(4)}, "whole": {"nodes": 2}},
        {"part-0": ("fits", "on 1 host"), "part-3": ("fits", "on 1 host"), "whole": ("fits", "on 2 hosts")},
    ),
    "without any level, parts are spread, and whole nodes wait": (
        {"topology": None, "pools": {"gpu": {"shape": "dgx-h100", "nodes": 3}}, **ALONE},
        {**{f"part-{index}": {"nodes": 1, "gpusPerNode": 2} for index in range(4)}, "whole": {"nodes": 2}},
        {"whole": ("waits for", "a node for pods of worker")},
    ),
    "a job that is wrong is not judged": (
        {},
        {"train": {"queue": "none"}},
        {"train": ("not judged", "cannot be rendered")},
    ),
}


def checked(folder, cluster, jobs):
    """A repository with these changes to the cluster, and these jobs."""
    values = {f"nlp/{name}": fields(JOB, job) for name, job in jobs.items()}
    return check_repository(write_repository(folder, jobs=values, clusters={"test": fields(CLUSTER, cluster)}))


@pytest.mark.parametrize(("cluster", "jobs", "expected"), CASES.values(), ids=CASES)
def test_verdicts(tmp_path, cluster, jobs, expected):
    """A job gets the word, and the detail says what is asked for."""
    found = {verdict.ask.file.name: verdict for verdict in verdicts(checked(tmp_path, cluster, jobs))}
    assert set(found) == set(jobs)
    for name, (word, *details) in expected.items():
        assert found[name].word == word, found[name]
        assert all(detail in found[name].detail for detail in details), found[name].detail


def before(folder, jobs):
    """Return a cluster with these jobs as the base has it."""
    specs = checked(folder, {}, jobs)
    where = site(specs.specs, "test")
    there = list(asks(specs, {"test": where}, ["test"]))
    runs = {ask.name: ask.run.run.name for ask in there}
    return {"test": Before(runs, lambda: Side(where, there), lambda site, case: site.answered(case))}


THREE = {"b": {"nodes": 2}, "c": {"nodes": 2}, "d": {"nodes": 2}}
"""Two of them have all quota of the queue, and the third waits."""

CHANGES = {
    "nothing changes": (THREE, {"b": "fits", "c": "fits", "d": "waits for"}),
    "a smaller job is a new run, and queues behind the one that waits": (
        {**THREE, "c": {"nodes": 1}},
        {"b": "fits", "c": "waits for", "d": "fits"},
    ),
    "a new job takes nothing from the others, whatever its name": (
        {"a": {"nodes": 2}, **THREE},
        {"a": "waits for", "b": "fits", "c": "fits", "d": "waits for"},
    ),
    "a job that ends makes room": ({"b": THREE["b"], "d": THREE["d"]}, {"b": "fits", "d": "fits"}),
}


@pytest.mark.parametrize(("jobs", "expected"), CHANGES.values(), ids=CHANGES)
def test_new_runs_queue_behind_those_of_the_base(tmp_path, jobs, expected):
    """Runs of the base hold the quota that they got, as in a plan."""
    found = verdicts(checked(tmp_path / "now", {}, jobs), before=before(tmp_path / "base", THREE))
    assert {verdict.ask.file.name: verdict.word for verdict in found} == expected


def test_all_runs_are_new_where_the_cluster_changes(tmp_path):
    """What Kueue knows is another then, and the order is that of priority, team and name."""
    changed = checked(tmp_path / "now", {"queues": {"research": {**TWO, "cohort": None}}}, {**THREE, "c": {"nodes": 1}})
    found = verdicts(changed, before=before(tmp_path / "base", THREE))
    assert [verdict.word for verdict in found] == [verdict.word for verdict in verdicts(changed)]


@pytest.mark.parametrize(
    ("large", "fabric", "job"),
    [({"spot": True}, None, {}), ({}, FABRIC, {"fabric": "rdma"})],
)
def test_a_job_is_told_of_no_pool_that_it_may_not_name(tmp_path, large, fabric, job):
    """One of spot nodes that it does not expect, or one that its fabric does not reach."""
    pools = {**CLUSTER["pools"], "large": {"shape": "dgx-h100", "nodes": 2, "racks": 1, **large}}
    quota = {"gpu": {"gpus": 4}, "large": {"gpus": 16}}
    cluster = {"pools": pools, "fabric": fabric, "queues": {"research": {"teams": ["nlp"], "nominalQuota": quota}}}
    (found,) = verdicts(checked(tmp_path, cluster, {"train": {"nodes": 1, "gpusPerNode": 8, **job}}))
    assert found.word == "never fits"
    assert found.changes
    assert not any(change.startswith("pool: ") for change in found.changes), found.changes


def test_what_is_ones_own_is_there_while_the_others_use_all_of_theirs(tmp_path):
    """A job within its queue's nominal quota is admitted with all other queues at theirs; a larger one is not."""
    there = checked(tmp_path, {"queues": {"research": TWO, "other": TWO}}, {"own": {"nodes": 2}})
    (found,) = verdicts(there)
    assert (found.word, "not while" in found.detail) == ("fits", False)
    assert [item["outcome"] for item in found.situations["nominal"]] == ["admitted"]
    (larger,) = verdicts(
        checked(tmp_path / "larger", {"queues": {"research": TWO, "other": TWO}}, {"own": {"nodes": 3}})
    )
    assert [item["outcome"] for item in larger.situations["nominal"]] != ["admitted"]


def test_a_job_with_quota_waits_for_the_checks_of_its_queue(tmp_path):
    """An AdmissionCheck that somebody else answers stands between quota and pods; no machine is looked at yet."""
    root = write_repository(tmp_path, jobs={"nlp/train": fields(JOB, {})})
    flavor = {"name": "gpu", "resources": [{"name": name, "nominalQuota": "100Ti"} for name in ASKED]}
    queue = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ClusterQueue",
        "metadata": {"name": "research"},
        "spec": {
            "namespaceSelector": {},
            "resourceGroups": [{"coveredResources": list(ASKED), "flavors": [flavor]}],
            "admissionChecksStrategy": {"admissionChecks": [{"name": "budget"}]},
        },
    }
    check = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "AdmissionCheck",
        "metadata": {"name": "budget"},
        "spec": {"controllerName": "example.com/budget"},
        "status": {"conditions": [{"type": "Active", "status": "True", "reason": "Active", "message": ""}]},
    }
    checked = check_repository(root)
    where = site(checked.specs, "test")
    others = [item for item in where.objects if item["kind"] != "ClusterQueue"]
    there = replace(where, objects=[*others, queue, check])
    (found,) = of_cluster(there, list(asks(checked, {"test": there}, ["test"])), [])
    assert (found.word, found.machines) == ("waits for", {})
    assert found.detail == "admission checks budget; has quota: 2 pods in flavor gpu on 2 hosts of rack-0"


def test_a_job_that_never_fits_is_a_finding_once(tmp_path):
    """It stands at the job's queue; a job of which an error is told already gets no second one."""
    there = checked(tmp_path, {}, {"train": {"nodes": 7}, "small": {"nodes": 1}})
    mine = verdicts(there)
    assert list(findings(mine, there.findings)) == []
    (found,) = findings(mine, [])
    assert (found.rule, found.location.file) == ("kq-never-fits", "jobs/nlp/train.yaml")
    assert found.location.line > 1


def test_who_is_not_asked_about_counts_all_the_same(tmp_path):
    """Of one job that is named, the verdict is the same as among all."""
    there = checked(tmp_path, {}, {"first": {"nodes": 3, "priority": "high"}, "second": {}})
    (found,) = verdicts(there, ["nlp/second"])
    assert (found.word, found.ask.name) == ("waits for", "nlp/second")
    assert found == verdicts(there)[1]


@pytest.fixture(scope="module")
def own():
    """The verdicts on the repository's own jobs, with those that programs make."""
    return verdicts(check_repository(ROOT))


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_own_jobs_are_decided_as_kueue_decided_them(own, cluster):
    """Kueue's own scheduler admitted the same runs, alone and together, in the same flavors and on the same hosts."""
    _, answers = read(cluster)
    mine = {
        item.ask.file.name: item for item in own if item.cluster == cluster and not (item.ask.why or item.ask.later)
    }
    assert set(mine) == set(answers["alone"])
    for situation in ("alone", "together"):
        for name, said in answers[situation].items():
            (ours,) = mine[name].situations[situation]
            assert (ours["outcome"] == "admitted") == (said["outcome"] == "admitted"), (situation, name)
            assert sets(ours.get("podSets", ())) == sets(said.get("assigned", ())), (situation, name)


def sets(found):
    """What pod sets got: flavors, pods and hosts."""
    return [
        (item["name"], item["count"], item["flavors"], (item.get("topology") or {}).get("domains")) for item in found
    ]


def test_the_command_tells_verdicts_and_ends_with_1_where_a_job_never_fits(tmp_path):
    """Text has a line a job, JSON all that Kueue said; `-v` has the arithmetic."""
    checked(tmp_path, {}, {"train": {"nodes": 7}, "small": {"nodes": 1}})
    done = call(tmp_path, "admit", "-v")
    assert done.returncode == 1
    assert "  nlp/small  fits  1 pod in flavor gpu on 1 host of rack-0\n    worker × 1: " in done.stdout
    assert "with all jobs of the cluster: inadmissible: couldn't assign" in done.stdout
    assert "    queue research uses of gpu: 208 of 832 cpu, " in done.stdout
    assert ", 8 of 32 nvidia.com/gpu\n" in done.stdout
    assert "[kq-max-quota]" in done.stderr
    (small,) = json.loads(call(tmp_path, "admit", "nlp/small", "-o", "json").stdout)
    assert (small["verdict"], small["situations"]["alone"][0]["outcome"]) == ("fits", "admitted")
    assert call(tmp_path, "admit", "nlp/smal").stderr == (
        "trainyard: job 'nlp/smal' does not exist; did you mean 'nlp/small'?\n"
    )


def test_a_cluster_that_cannot_be_rendered_is_told_and_its_jobs_are_not_judged(tmp_path):
    """Its findings say why, at their lines; nothing ends in a sentence that names no file."""
    checked(tmp_path, {}, {"small": {"nodes": 1}})
    file = tmp_path / "platform/clusters/test.yaml"
    file.write_text(file.read_text().replace("pools:", "pools:\n  odd: {shape: dgx-h10, nodes: 1}"))
    done = call(tmp_path, "admit")
    assert done.returncode == 1
    assert "platform/clusters/test.yaml:" in done.stderr
    assert "dgx-h10" in done.stderr
    assert "nlp/small  not judged" in done.stdout


def test_cases_are_replayed_line_by_line(tmp_path):
    """Each case is answered in the fields of a program that answers with Kueue's code; one that is none ends with 1."""
    (tmp_path / "cases.jsonl").write_text('{"name": "empty"}\n---\n{"name": "odd", "mode": "none"}\n')
    done = call(tmp_path, "admit", "--replay", "cases.jsonl")
    first, second = map(json.loads, done.stdout.splitlines())
    assert (first["name"], first["mode"]) == ("empty", "settle")
    assert "want cycle, settle, rest or nominate" in second["error"]
    assert done.returncode == 1
