"""Objects that are not what they say are refused in a sentence, and nothing outside of a run's folders is touched."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from trainyard.faces.local import RunError, work_of
from trainyard.faces.local.expansion import MOST, expand
from trainyard.faces.local.output import BLOCK
from trainyard.faces.local.session import Session
from trainyard.faces.local.volumes import inside

Made = dict[str, Any]


def job(script: str = "true", **more: Any) -> Made:
    """Return a Job of one container that runs a script; `more` is of its pod."""
    main = {"name": "main", "command": ["sh", "-c", script]}
    pod = {"restartPolicy": "Never", "containers": [main], **more}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "it", "namespace": "nlp"},
        "spec": {"completions": 1, "completionMode": "Indexed", "template": {"spec": pod}},
    }


def changed(*path: str | int, to: Any, **more: Any) -> Made:
    """Return a Job with another value in one place."""
    found: Any = job(**more)
    at = found
    for part in path[:-1]:
        at = at[part]
    at[path[-1]] = to
    return dict(found)


def mounting(volume: Made, script: str = "true", **mount: Any) -> Made:
    """Return a Job that mounts a volume."""
    found = job(script, volumes=[{"name": "v", **volume}])
    found["spec"]["template"]["spec"]["containers"][0]["volumeMounts"] = [{"name": "v", "mountPath": "/v", **mount}]
    return found


def run(objects: list[Made], folder: Path, **more: Any) -> tuple[bool, list[str]]:
    """Run what the objects are as plain processes, and return whether it went well, and every line."""
    (work,) = work_of(objects)
    lines: list[str] = []
    folders = {"state": folder / "state", "workdir": folder}
    return Session(work, lambda _, text: lines.append(text), plain=True, **folders, **more).run(), lines


def config(**more: Any) -> Made:
    """Return a ConfigMap."""
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m", "namespace": "nlp"}, **more}


POD = ("spec", "template", "spec")
MAIN = (*POD, "containers", 0)
JOBSET = {
    "apiVersion": "jobset.x-k8s.io/v1alpha2",
    "kind": "JobSet",
    "metadata": {"name": "it"},
    "spec": {
        "replicatedJobs": [{"name": "w", "replicas": 30, "template": {"spec": {**job()["spec"], "completions": 30}}}]
    },
}

REFUSED: dict[str, tuple[Callable[[], Made], str]] = {
    "a name that is a path": (lambda: changed("metadata", "name", to="/tmp/other"), "name of Job '/tmp/other'"),
    "a name that leads up": (lambda: changed("metadata", "name", to="../../other"), "name of Job '../../other'"),
    "a name that is no text": (lambda: changed("metadata", "name", to=3), "name of Job 3 must be a text"),
    "a namespace that leads up": (lambda: changed("metadata", "namespace", to="../x"), "namespace '../x' of Job 'it'"),
    "a stranger's name": (lambda: config(metadata={"name": "../m"}), "name of ConfigMap '../m'"),
    "no name": (lambda: changed("metadata", to={}), "a Job has no name"),
    "metadata that is no map": (lambda: changed("metadata", to=["it"]), "metadata of a Job"),
    "no spec": (lambda: changed("spec", to=None), "Job 'it' has no spec"),
    "no template": (lambda: changed("spec", to={}), "Job 'it' has no 'template'"),
    "containers that are no list": (
        lambda: changed(*POD, "containers", to={"name": "a"}),
        "containers of Job 'it'",
    ),
    "a container that is a text": (lambda: changed(*POD, "containers", to=["a"]), "containers.0. of Job 'it' is 'a'"),
    "a variable without a name": (lambda: changed(*MAIN, "env", to=[{"value": "1"}]), "env.0. of Job 'it' has no name"),
    "a command that is a text": (lambda: changed(*MAIN, "command", to="true"), "command of Job 'it' is 'true'"),
    "labels that are a list": (
        lambda: changed("spec", "template", "metadata", to={"labels": ["a"]}),
        "schema of its kind",
    ),
    "a grace that is a text": (lambda: changed(*POD, "terminationGracePeriodSeconds", to="x"), "number of seconds"),
    "completions that are a text": (lambda: changed("spec", "completions", to="2"), "completions of Job 'it' is '2'"),
    "too many pods": (lambda: changed("spec", "completions", to=10**9), "has 1000000000 pods, but at most 512"),
    "too many pods together": (lambda: JOBSET, "has 900 pods, but at most 512"),
    "indices without end": (
        lambda: changed("spec", "successPolicy", to={"rules": [{"succeededIndexes": "0-999999999"}]}),
        "index 999999999 is above 511",
    ),
    "indices that are none": (
        lambda: changed("spec", "successPolicy", to={"rules": [{"succeededIndexes": "a"}]}),
        "indices 'a' must be a list",
    ),
    "variables that double": (
        lambda: changed(
            *MAIN,
            "env",
            to=[{"name": "V0", "value": "x" * 64}]
            + [{"name": f"V{n}", "value": f"$(V{n - 1})$(V{n - 1})"} for n in range(1, 40)],
        ),
        "expands to more than 1048576",
    ),
}


@pytest.mark.parametrize(("make", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_is_refused_before_anything_is_made(make, message):
    """The sentence names the object and what is wrong with it."""
    with pytest.raises(RunError, match=message):
        work_of([make()])


def test_names_that_clusters_take_are_taken():
    """Roles may be called as no DNS name is, and an object without a name that makes no pods is nobody's concern."""
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "system:it"}}
    (work,) = work_of([job(), role, {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization"}])
    assert len(work.pods) == 1


OUTSIDE: dict[str, Callable[[Path], Made]] = {
    "a claim": lambda there: mounting({"persistentVolumeClaim": {"claimName": f"../../../{there.name}"}}),
    "an absolute claim": lambda there: mounting({"persistentVolumeClaim": {"claimName": str(there)}}),
    "a part": lambda there: mounting(
        {"persistentVolumeClaim": {"claimName": "c"}}, subPath=f"../../../../{there.name}"
    ),
    "an absolute part": lambda there: mounting({"emptyDir": {}}, subPath=str(there)),
    "a part by variables": lambda _: changed(
        *MAIN,
        to={
            **mounting({"emptyDir": {}}, subPathExpr="$(UP)/outside")["spec"]["template"]["spec"]["containers"][0],
            "env": [{"name": "UP", "value": "../../.."}],
        },
        volumes=[{"name": "v", "emptyDir": {}}],
    ),
    "an item": lambda _: mounting({"configMap": {"name": "m", "items": [{"key": "a", "path": "../../../outside/a"}]}}),
    "a key": lambda _: mounting({"configMap": {"name": "up"}}),
    "a field": lambda there: mounting(
        {"downwardAPI": {"items": [{"path": f"{there}/a", "fieldRef": {"fieldPath": "metadata.name"}}]}}
    ),
}


@pytest.mark.parametrize("make", OUTSIDE.values(), ids=OUTSIDE)
def test_nothing_is_written_outside(make, tmp_path):
    """A path that leads out of its volume ends the run, and what it leads to stays as it was."""
    (outside := tmp_path / "outside").mkdir()
    beside = [config(data={"a": "x"}), config(metadata={"name": "up", "namespace": "nlp"}, data={"../../../a": "x"})]
    with pytest.raises(RunError, match="leaves its volume"):
        run([make(outside), *beside], tmp_path)
    assert list(outside.iterdir()) == []


def test_a_link_that_a_pod_has_made_leads_nowhere(tmp_path):
    """A claim is shared: what one run leaves in it takes the next no further than the claim."""
    claim = {"persistentVolumeClaim": {"claimName": "c"}}
    (outside := tmp_path / "outside").mkdir()
    assert run([mounting(claim, f"ln -s {outside} /v/link; ln -s a /v/here; mkdir /v/a")], tmp_path)[0]
    with pytest.raises(RunError, match="through a link"):
        run([mounting(claim, "touch /v/x", subPath="link")], tmp_path)
    assert list(outside.iterdir()) == []
    assert run([mounting(claim, "touch /v/x", subPath="here")], tmp_path)[0]
    assert (tmp_path / "state/claims/nlp/c/a/x").exists()


def test_a_link_in_a_loop_is_refused(tmp_path):
    """A link that leads to itself is no folder."""
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises((RunError, OSError)):
        inside(tmp_path, "loop/x").mkdir(parents=True)


UNKNOWN = {"csi": {"driver": "x"}, "glusterfs": {"path": "p", "endpoints": "e"}, "image": {"reference": "x"}, "rbd": {}}


@pytest.mark.parametrize("source", UNKNOWN)
def test_volumes_of_other_sources_are_not_empty_folders(source, tmp_path):
    """What is not here is refused, unless a folder is put in its place."""
    found = mounting({source: UNKNOWN[source]})
    with pytest.raises(RunError, match=f"from {source}.*--path"):
        run([found], tmp_path)
    assert run([found], tmp_path, paths={"/v": tmp_path})[0]


ENDS = {
    "no completions": ("completions", True, "no pods"),
    "none at a time": ("parallelism", False, "parallelism is 0"),
}


@pytest.mark.parametrize(("field", "well", "why"), ENDS.values(), ids=ENDS)
def test_a_run_of_nothing_ends_at_once(field, well, why, tmp_path):
    """Nothing is waited for that cannot come, and a line says so."""
    ended, lines = run([changed("spec", field, to=0)], tmp_path)
    assert ended == well
    assert why in lines[-1]


def test_a_line_without_end_is_cut(tmp_path):
    """A program that writes no ends of lines is shown in pieces, and nothing of it is lost."""
    script = f"import sys; sys.stdout.write('x' * {20 * BLOCK})"
    found = job()
    found["spec"]["template"]["spec"]["containers"][0]["command"] = [sys.executable, "-c", script]
    _, lines = run([found], tmp_path)
    pieces = [line for line in lines if line.startswith("xx")]
    assert sum(map(len, pieces)) == 20 * BLOCK
    assert max(map(len, pieces)) < 2 * BLOCK


def test_arguments_alone_start_nothing(tmp_path):
    """A container without a command is refused, whatever else it has."""
    with pytest.raises(RunError, match="has no command"):
        run([changed(*MAIN, to={"name": "main", "args": ["--lr=1"]})], tmp_path)


def test_a_text_may_be_long_but_not_without_end():
    """What is expanded stays in bounds, also where it is one reference after another."""
    assert len(expand("$(A)" * 1000, {"A": "x" * 1000})) == 1_000_000
    with pytest.raises(RunError, match=f"more than {MOST}"):
        expand("$(A)" * 100_000, {"A": "x" * MOST})


def test_scratch_folders_are_not_called_as_pods_are(tmp_path, monkeypatch):
    """What a run leaves is nothing, and what it removes lies below its own folder."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert run([mounting({"emptyDir": {}}, "ls -d /v")], tmp_path)[1][0].endswith("/pod-0-2/volume-0")
    assert not list(tmp_path.glob("trainyard-run-*"))
