"""How fast and with how little `validate` judges, with generous bounds, and that several processes judge alike."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from conftest import ROOT
from trainyard.base.system import progress
from trainyard.judge.checks import parallel
from trainyard.judge.checks.repository import validate_repository
from trainyard.judge.checks.result import Result
from trainyard.judge.checks.validate import strangers

sys.path.append(str(ROOT / "tools"))

import bench_manifests  # a tool, beside the package

SLOWEST = 150
"""Documents a second of processor, a sixth of what is measured in docs/performance.md."""

UNNEEDED = (
    *("trainyard.specs", "trainyard.upstream.apiserver.cel", "cdk8s", "rich", "jsonschema"),
    "trainyard.upstream.apiserver.admission.podsecurity.plugin",
)


@pytest.fixture
def files(tmp_path):
    """A small tree of right manifests, and one of them misspelt, by name and content."""
    bench_manifests.write_tree(tmp_path, objects=60, per_file=6)
    found = [(path.name, path.read_bytes()) for path in sorted(tmp_path.rglob("*.yaml"))]
    name, data = found[3]
    found[3] = name, data.replace(b"backoffLimit", b"backofLimit")
    return found


def test_documents_are_judged_fast(files):
    """Judging stays within a sixth of its measured speed, imports and compiling included."""
    started = time.process_time()
    result = strangers(files, ROOT / "schemas")
    assert len(result.objects) == 60
    assert time.process_time() - started < 60 / SLOWEST + 1


def test_a_core_kind_needs_few_modules(tmp_path):
    """Judging one Job imports neither specs nor CEL, for both take longer to import than a Job to judge."""
    bench_manifests.write_file(tmp_path / "job.yaml", objects=1)
    program = "import sys; from trainyard.faces.cli import main\ntry: main(['validate', sys.argv[1]])"
    program += "\nexcept SystemExit: pass"
    program += "\nprint(*sorted(sys.modules))"
    command = [sys.executable, "-c", program, str(tmp_path / "job.yaml")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT, env={"PYTHONPATH": "platform"})
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "trainyard.upstream.apiserver.core.job" in loaded
    assert not loaded & set(UNNEEDED)


def test_several_processes_find_what_one_finds(files, monkeypatch):
    """Many files judged with several processes give the same result in the same order, and tell what is done."""
    alone = strangers(files, ROOT / "schemas")
    monkeypatch.setattr(parallel, "LARGE", 1)
    monkeypatch.setattr(parallel, "PART", 60_000)
    told = []
    with progress.shown_by(lambda *words: told.append(words)):
        together = strangers(files, ROOT / "schemas")
    assert together == alone
    assert alone.errors > 0
    if parallel.pays(files):
        parts = len(parallel.split(parallel.Piece(*file) for file in files))
        assert told == [("judging", done, parts, "MiB") for done in range(1, parts + 1)]


CRD = b"""\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: things, kind: Thing, listKind: ThingList, singular: thing}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object}}}}
"""


@pytest.mark.parametrize("spelling", [b"CustomResourceDefinition", b'"Custom\\u0052esourceDefinition"'])
def test_definitions_count_in_every_process(files, monkeypatch, spelling):
    """A CRD in the last file defines its kind for the first, however it is spelt."""
    monkeypatch.setattr(parallel, "LARGE", 1)
    monkeypatch.setattr(parallel, "PART", 1)
    thing = ("a.yaml", b"apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a}\n")
    crd = ("z.yaml", CRD.replace(b"CustomResourceDefinition", spelling))
    result = strangers([thing, *files[:2], crd], ROOT / "schemas")
    assert result.objects[0].verdict == "valid"


def by_place(finding):
    """The order in which reports list findings."""
    return finding.order


def test_a_large_file_is_cut_between_documents(files, monkeypatch):
    """One file is judged by several processes too; lines and documents count from its start, in odd files as well."""
    odd = b"# no\n---\n---\n# nor this\n---\nkind: 5\n--- # why\nkind: [\n---\nitems: []\nkind: List\n---\na: 1\n"
    whole = b"---\n".join(data for _, data in files[2:4])
    inputs = [
        ("a.yaml", odd + b"---\n" + whole + b"---\r\n" + odd),
        ("b.yaml", odd),
        ("c.yaml", b"# nothing\n---\nnull\n"),
    ]
    alone = strangers(inputs, ROOT / "schemas")
    assert len(alone.objects) == 12
    assert alone.errors > 8
    monkeypatch.setattr(parallel, "LARGE", 1)
    for size in (1, 30_000):
        monkeypatch.setattr(parallel, "PART", size)
        assert len(list(parallel.cut(*inputs[0]))) > 2
        together = strangers(inputs, ROOT / "schemas")
        assert together.objects == alone.objects
        assert sorted(together.findings, key=by_place) == sorted(alone.findings, key=by_place)


def test_a_file_that_does_not_read_is_not_cut(monkeypatch):
    """What is wrong with a file as a whole is said once."""
    monkeypatch.setattr(parallel, "LARGE", 1)
    monkeypatch.setattr(parallel, "PART", 1)
    result = strangers([("a.yaml", b"kind: 1\n---\nb: \xff\n---\nc: 1\n")], ROOT / "schemas")
    assert [finding.rule for finding in result.findings] == ["decode/encoding"]


JOB = b"""\
apiVersion: ray.io/v1
kind: RayJob
metadata: {name: a, namespace: team}
spec:
  entrypoint: a
  rayClusterSpec: {headGroupSpec: {rayStartParams: {}, template: {spec: {containers: [{name: a, image: a:b}]}}}}
"""
QUEUE = b"""\
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: default, namespace: team}
spec: {clusterQueue: a}
"""


@pytest.mark.parametrize("spelling", [b"LocalQueue", b'"Local\\u0051ueue"'])
def test_what_webhooks_look_up_is_known_in_every_process(files, monkeypatch, spelling):
    """A queue in the last file is the default one of a job in the first, however it is spelt."""
    inputs = [("a.yaml", JOB), *files[:2], ("z.yaml", QUEUE.replace(b"LocalQueue", spelling))]
    alone = strangers(inputs, ROOT / "schemas")
    assert alone.objects[0].verdict == "invalid"
    assert strangers(inputs[:-1], ROOT / "schemas").objects[0].verdict == "valid"
    monkeypatch.setattr(parallel, "LARGE", 1)
    monkeypatch.setattr(parallel, "PART", 1)
    assert strangers(inputs, ROOT / "schemas") == alone


def test_results_come_in_the_order_of_items():
    """What several processes say comes in the order of what they are asked."""
    items = [3, 1, 2]
    found = parallel.each(items, lambda item: Result(notes=[f"{item} {os.getpid()}"]))
    notes = [item.notes[0].split() for item in found]
    assert [int(item) for item, _ in notes] == items
    assert str(os.getpid()) not in {process for _, process in notes}


def test_updates_are_judged_by_several_processes(files, monkeypatch):
    """With the files before, too: what is changed, added and removed is found as one process finds it."""
    before = [(name, data.replace(b"backoffLimit", b"parallelism")) for name, data in files[1:]]
    inputs = files[:-1]
    alone = strangers(inputs, ROOT / "schemas", before=before)
    assert {change.word for change in alone.changes} >= {"added", "removed", "refused"}
    monkeypatch.setattr(parallel, "LARGE", 1)
    told = []
    with progress.shown_by(lambda *words: told.append(words)):
        assert strangers(inputs, ROOT / "schemas", before=before) == alone
    assert told[-1] == ("judging", len(alone.objects), len(alone.objects), "objects")


@pytest.mark.slow
def test_clusters_are_judged_apart(monkeypatch, tmp_path):
    """A repository's clusters judged with several processes give the same result in the same order."""
    clusters = ["kind", "nimbus"]
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "one"))
    alone = validate_repository(ROOT, clusters=clusters)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "several"))
    monkeypatch.setattr(parallel, "LARGE", 1)
    told = []
    with progress.shown_by(lambda *words: told.append(words)):
        assert validate_repository(ROOT, clusters=clusters) == alone
    assert told[-2:] == [("judging", 1, 2, "clusters"), ("judging", 2, 2, "clusters")]
