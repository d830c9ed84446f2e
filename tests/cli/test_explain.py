"""`explain` says what pods ask for and why, in text and JSON."""

from __future__ import annotations

import json

import pytest

import command
from conftest import ROOT
from make import CLUSTER, JOB, write_repository
from trainyard.faces.cli import _table, main


def call(capsys, *arguments):
    """Run `explain` here; exit code, standard output and standard error."""
    with pytest.raises(SystemExit) as stopped:
        main(["explain", *arguments, "--root", str(ROOT)])
    return stopped.value.code, *capsys.readouterr()


def test_every_value_has_its_origin(capsys):
    """Every value of the pre-training run is named with what it follows from, and is what the manifest asks for."""
    code, out, _ = call(capsys, "nlp/llama3-8b", "-o", "json")
    report = json.loads(out)
    facts = {fact["name"]: fact["value"] for fact in report["facts"]}
    manifest = next((ROOT / "generated/atlas/runs/nlp" / report["run"]).glob("jobset.*.yaml")).read_text()
    assert code == 0
    assert all(fact["origin"] for fact in report["facts"])
    assert f'cpu: "{facts["worker.cpus"]}"' in manifest
    assert f"memory: {facts['worker.memory']}" in manifest
    assert f"terminationGracePeriodSeconds: {facts['grace_seconds']}" in manifest


def test_text_is_a_table(capsys):
    """The text names the run and lines the values up."""
    _, out, _ = call(capsys, "nlp/llama3-8b")
    assert out.startswith("JobSet nlp/llama3-8b-")
    assert "worker.nvidia.com/gpu" in out
    assert "required example.com/rack" in out
    assert "admission  " in out
    assert "fits: 8 pods in flavor h100 on 8 hosts of rack-" in out


LONG = [("worker.env.TF_CONFIG", json.dumps({"cluster": ["host"] * 90}), "tasks of all roles"), ("nodes", "2", "nodes")]


def test_a_terminal_gets_lines_that_fit():
    """Long values are wrapped and folded where somebody reads; in a pipe every value is whole, on a line of its own."""
    for within in (60, 80, 200):
        shown = list(_table.lines(LONG, within=within))
        assert all(len(line) <= within for line in shown)
        assert sum("-o json" in line for line in shown) == 1
        assert len(shown) <= 1 + max(_table.MOST_LINES, 4)
        assert shown[-1].split() == ["nodes", "2", "nodes"]
    whole = list(_table.lines(LONG, within=None))
    assert len(whole) == len(LONG)
    assert LONG[0][1] in whole[0]
    assert len(whole[1]) < 100


def test_what_the_launcher_works_out_is_explained_too(tmp_path):
    """One process of plain Python sizes shared memory; ranks meet at an address that the kind makes."""
    job = {**JOB, "launcher": "python", "processesPerNode": 1}
    root = write_repository(tmp_path, jobs={"nlp/train": job})
    report = json.loads(command.call(root, "explain", "nlp/train", "-o", "json").stdout)
    facts = {fact["name"]: (fact["value"], fact["origin"]) for fact in report["facts"]}
    assert facts["kind"] == ("JobSet", "the cluster's first kind that the launcher can use")
    assert facts["worker.processes"] == ("1", "launcher python starts one")
    assert facts["worker.shared_memory"][0] == "8Gi"
    assert facts["worker.env.OMP_NUM_THREADS"] == ("208", "208 = floor(208 CPUs / 1 processes)")
    assert facts["world_size"] == ("2", "2 worker pods × 1 process")
    assert facts["master"][0] == f"{report['run']}-worker-0-0.{report['run']}"
    assert facts["port"][0] == "29500"
    assert "rendezvous_id" not in facts


@pytest.mark.parametrize("job", [{}, {"kind": "Job", "minNodes": 2}], ids=["of fixed size", "elastic"])
def test_a_rendezvous_is_explained(tmp_path, job):
    """Agents of torchrun meet by the run's name, at an address that the kind makes."""
    root = write_repository(tmp_path, jobs={"nlp/train": {**JOB, **job}})
    report = json.loads(command.call(root, "explain", "nlp/train", "-o", "json").stdout)
    facts = {fact["name"]: (fact["value"], fact["origin"]) for fact in report["facts"]}
    assert facts["rendezvous_id"] == (report["run"], "name of the run")
    assert facts["master"][0].startswith(report["run"])
    assert facts["port"][0] == "29500"


def test_a_job_that_cannot_run_is_not_explained(tmp_path):
    """Its findings say why, and no value is shown that would never be."""
    root = write_repository(tmp_path, jobs={"nlp/train": {**JOB, "launcher": "torchrn"}})
    done = command.call(root, "explain", "nlp/train")
    assert (done.returncode, done.stdout) == (1, "")
    assert "did you mean 'torchrun'?" in done.stderr
    assert done.stderr.endswith("job 'nlp/train' cannot run; run `trainyard check` for the reason\n")


def test_what_a_launcher_does_not_use_is_not_explained(capsys):
    """Tasks of TensorFlow meet at ports of its own, with no rendezvous."""
    code, out, _ = call(capsys, "ads/wide-deep", "-o", "json")
    names = {fact["name"] for fact in json.loads(out)["facts"]}
    assert code == 0
    assert not {"master", "port", "rendezvous_id"} & names


def test_a_job_is_named_by_its_file_too(capsys):
    """As `retire` and `rerun` take it."""
    assert call(capsys, "jobs/nlp/llama3-8b.yaml")[:2] == call(capsys, "nlp/llama3-8b")[:2]


def test_unknown_job_is_one_sentence(capsys):
    """A job that is not there ends with 2 and the near miss."""
    code, _, err = call(capsys, "nlp/lama3-8b")
    assert code == 2
    assert err.endswith("did you mean 'nlp/llama3-8b'?\n")


def test_pairs_of_launchers_and_kinds_are_a_table(capsys):
    """Each launcher has a column, each kind a row, and what kinds do not give is said once."""
    code, out, _ = call(capsys, "kinds")
    header, *rows = out.split("\n\n")[0].splitlines()
    words = {(row.split()[0], name) for row in rows for name in header.split()}
    assert code == 0
    assert {("JobSet", "torchrun"), ("MPIJob", "mpirun")} <= words
    assert "ssh: one pod has SSH keys" in out


def test_pairs_say_why_they_do_not_go(capsys):
    """In JSON every pair is there; one that does not go says what is missing."""
    _, out, _ = call(capsys, "kinds", "-o", "json")
    found = {(load["launcher"], load["kind"]): load for load in json.loads(out)}
    assert found["torchrun", "Job"]["runs"] == "elastic"
    assert found["mpirun", "JobSet"] == {
        "launcher": "mpirun",
        "kind": "JobSet",
        "runs": "no",
        "why": "no ssh: one pod has SSH keys and a list of all others",
    }
    assert found["python", "MPIJob"]["why"].endswith("the launcher has no role 'launcher'")


def test_pairs_of_a_cluster_are_those_that_it_runs(capsys):
    """Only kinds whose operator is there are named; an unknown cluster is told with its neighbours."""
    _, out, _ = call(capsys, "kinds", "--cluster", "nimbus", "-o", "json")
    assert "TFJob" not in {load["kind"] for load in json.loads(out)}
    code, _, err = call(capsys, "kinds", "--cluster", "nimbu")
    assert (code, "did you mean 'nimbus'?" in err) == (2, True)


def test_another_kind_is_explained_by_what_changes(capsys):
    """What differs is told before and after; world size and variables do not, so they are not."""
    code, out, _ = call(capsys, "nlp/llama3-8b", "--kind", "Job", "-o", "json")
    report = json.loads(out)
    found = {difference["name"]: (difference["before"], difference["after"]) for difference in report["differences"]}
    assert (code, report["before"], report["after"]) == (0, "JobSet", "Job")
    assert found["master"] == ("<run>-worker-0-0.<run>", "<run>-0.<run>")
    assert found["counts as one restart"][1].startswith("as many failures")
    assert not [name for name in found if name == "world_size" or ".env." in name]


def test_a_kind_that_cannot_carry_a_job_says_why(capsys):
    """The findings of the changed job are shown, and the exit code is 1."""
    code, out, err = call(capsys, "nlp/llama3-8b", "--kind", "MPIJob")
    assert (code, out) == (1, "")
    assert "launcher 'torchrun' cannot run in kind 'MPIJob', which does not provide 'rank'" in err
    code, _, err = call(capsys, "nlp/llama3-8b", "--kind", "Jobset")
    assert (code, "did you mean 'JobSet'?" in err) == (1, True)


def test_the_kind_that_a_job_has_changes_nothing(capsys):
    """Naming the kind that was chosen makes a new run of the same objects, so nothing is printed as changed."""
    code, out, _ = call(capsys, "nlp/llama3-8b", "--kind", "JobSet")
    assert (code, out) == (0, "job 'nlp/llama3-8b' is in kind 'JobSet'; nothing would change\n")


def test_what_a_reviewer_should_see_ends_it(capsys, tmp_path):
    """Patches and waivers with their reasons, and other containers."""
    patch = {"object": "JobSet", "merge": {"spec": {"failurePolicy": {"maxRestarts": 1}}}, "reason": "it hangs"}
    sidecar = {"name": "agent", "image": JOB["image"]}
    job = {**JOB, "patches": [patch], "containers": [sidecar], "waive": {"ckp-interval": "it is short"}}
    write_repository(tmp_path, jobs={"nlp/train": job})
    for form in ("text", "json"):
        with pytest.raises(SystemExit):
            main(["explain", "nlp/train", "-o", form, "--root", str(tmp_path)])
        out = capsys.readouterr().out
        if form == "json":
            said = [(mark["what"], mark["reason"]) for mark in json.loads(out)["marks"]]
            assert said[:3] == [("patch", "it hangs"), ("waiver", "it is short"), ("outside", None)]
        else:
            end = out.partition("for reviewers\n")[2].splitlines()
            assert end[0].strip() == "patch: JobSet: spec.failurePolicy.maxRestarts = 1 (reason: it hangs)"


ELSEWHERE = {"gpusPerNode": 9, "cluster": "far"}
CLUSTERS = {"test": CLUSTER, "far": {**CLUSTER, "argocd": {"version": "3.5.1", "destination": {"name": "far"}}}}


def test_only_what_concerns_the_jobs_cluster_is_said(tmp_path):
    """A mistake on another cluster is no matter of `explain JOB` and `admit JOB`; one on its own cluster is."""
    for other, code in ((ELSEWHERE, 0), ({"gpusPerNode": 9}, 1)):
        write_repository(tmp_path, jobs={"nlp/one": JOB, "nlp/two": {**JOB, **other}}, clusters=CLUSTERS)
        assert command.call(tmp_path, "check").returncode == 1
        for name in ("explain", "admit"):
            done = command.call(tmp_path, name, "nlp/one")
            assert ("gpusPerNode" in done.stderr, done.returncode) == (bool(code), code)


def test_a_waiver_on_another_cluster_is_neither_used_nor_unused(tmp_path):
    """Of a waiver whose job is not looked at nothing is said."""
    jobs = {"nlp/one": JOB, "nlp/two": {**JOB, "cluster": "far", "waive": {"spec/dataset": "a test says so"}}}
    write_repository(tmp_path, jobs=jobs, clusters=CLUSTERS)
    assert "waive" in command.call(tmp_path, "explain", "nlp/two").stderr
    assert "waive" not in command.call(tmp_path, "explain", "nlp/one").stderr


def test_a_waived_credential_on_another_cluster_stays_waived(tmp_path):
    """Credentials of jobs that are not looked at are none of this job's findings, waived or not."""
    secret = {"env": {"REDIS_PASSWORD": "changeme"}, "waive": {"sec-env-secret": "a cache of one test"}}
    write_repository(tmp_path, jobs={"nlp/one": JOB, "nlp/two": {**JOB, "cluster": "far", **secret}}, clusters=CLUSTERS)
    done = command.call(tmp_path, "explain", "nlp/one")
    assert (done.returncode, "sec-env-secret" in done.stderr) == (0, False)


def test_a_cluster_s_prerequisites(capsys):
    """`explain cluster` prints what the rendered page lists, as text and as data, in a moment."""
    code, out, _ = call(capsys, "cluster", "cumulus")
    assert code == 0
    assert "  nodes of pool h100 offer `nvidia.com/gpu 8`\n    why: " in out
    _, out, _ = call(capsys, "cluster", "platform/clusters/cumulus.yaml", "-o", "json")
    page = (ROOT / "generated/cumulus/PREREQUISITES.md").read_text()
    assert len(json.loads(out)) == page.count("\n- ")
    assert {row["field"] for row in json.loads(out)} > {"kubernetes", "pools.h100", "fabric.type"}


NAMES = {
    "a cluster that does not exist": (("cluster", "cumulu"), "cluster 'cumulu' does not exist; did you mean 'cumulus'"),
    "no name": (("cluster",), "write one job, or cluster and the name of one"),
    "two jobs": (("nlp/hello", "nlp/llama3-8b"), "write one job, or cluster and the name of one"),
}


@pytest.mark.parametrize(("arguments", "message"), NAMES.values(), ids=NAMES)
def test_one_thing_is_explained(capsys, arguments, message):
    """A second word is the name of a cluster, and nothing else."""
    code, _, err = call(capsys, *arguments)
    assert code == 2
    assert message in err


def test_a_broken_cluster_is_reported(tmp_path, capsys):
    """A cluster whose file has an error has no list: the error is shown."""
    write_repository(tmp_path, clusters={"test": {**CLUSTER, "pools": 5}})
    with pytest.raises(SystemExit) as stopped:
        main(["explain", "cluster", "test", "--root", str(tmp_path)])
    assert stopped.value.code == 1
    assert "platform/clusters/test.yaml:" in "".join(capsys.readouterr())
