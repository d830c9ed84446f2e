"""The second engine: how it is found and installed, and what it says of files."""

from __future__ import annotations

import hashlib
import io
import platform
import tarfile

import pytest

from make import make_crd
from trainyard.base.errors import ToolError
from trainyard.base.system import kubeconform
from trainyard.judge.checks import kubeconform as engine
from trainyard.upstream.apiserver import catalog

JOB = b"""\
apiVersion: batch/v1
kind: Job
metadata: {name: x, labels: {size: 5}}
spec:
  paralelism: 2
  template:
    spec:
      restartPolicy: Never
      containers: [{name: a, image: i}]
"""
GOOD = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: z}\n"
PROBE = b"apiVersion: example.com/v1\nkind: Probe\nmetadata: {name: x}\nspec: {size: one}\n"


def make_archive(content: bytes = b"#!/bin/sh\n", name: str = "kubeconform") -> bytes:
    """A release's archive."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        member = tarfile.TarInfo(name)
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return data.getvalue()


@pytest.fixture
def recorded(monkeypatch, tmp_path):
    """Where hashes of installed programs are, beside those of this environment."""
    monkeypatch.setattr(kubeconform, "RECORD", tmp_path / "share" / "programs.sha256")
    return kubeconform.RECORD


@pytest.fixture
def machine(monkeypatch, recorded):
    """The name of the machine among the pinned archives, on a PATH without Go."""
    monkeypatch.setenv("PATH", "")
    processor = kubeconform.PROCESSORS.get(platform.machine().lower(), platform.machine())
    return f"{platform.system().lower()}-{processor}"


def test_a_release_is_installed_once(tmp_path, monkeypatch, machine):
    """Without Go the pinned archive is fetched and compared, and a second call fetches nothing."""
    data = make_archive()
    monkeypatch.setitem(kubeconform.SHA256, machine, hashlib.sha256(data).hexdigest())
    asked: list[str] = []

    def fetch(address: str) -> bytes:
        asked.append(address)
        return data

    for _ in range(2):
        program = kubeconform.install(tmp_path / "bin", fetch=fetch)
        assert program.read_bytes() == b"#!/bin/sh\n"
        assert program.stat().st_mode & 0o111
    assert asked == [f"{kubeconform.RELEASE}kubeconform-{machine}.tar.gz"]
    assert kubeconform.VERSION in asked[0]


def test_another_archive_is_refused(tmp_path, machine):
    """An archive with another hash is an error, and nothing is installed."""
    if machine not in kubeconform.SHA256:
        pytest.fail(f"no archive is pinned for {machine}")
    with pytest.raises(ToolError, match=r"has sha256 .*, but must have"):
        kubeconform.install(tmp_path / "bin", fetch=lambda _: make_archive())
    assert not (tmp_path / "bin" / "kubeconform").exists()


def test_an_unknown_machine_is_told_to_install_go(tmp_path, monkeypatch, machine):
    """Where no archive is pinned, the message names the way out."""
    monkeypatch.delitem(kubeconform.SHA256, machine)
    with pytest.raises(ToolError, match=f"pinned for {machine}; install Go"):
        kubeconform.install(tmp_path / "bin", fetch=lambda _: b"")


def test_a_missing_engine_is_never_skipped(tmp_path, machine):
    """Without the program the check stops and says what installs it."""
    assert machine
    with pytest.raises(ToolError, match="`make setup` installs it"):
        kubeconform.find(tmp_path)


@pytest.fixture(scope="module")
def known(root):
    """Kubernetes 1.35 with Kueue and JobSet."""
    found, _ = catalog.load(root / "schemas", kubernetes="1.35", projects={"kueue": "0.19.2", "jobset": "0.12.0"})
    return found


@pytest.mark.go
def test_findings_have_places(root, known):
    """What kubeconform refuses is a finding at the field, of the file that it is in."""
    findings = list(engine.check(root, known, [("good.yaml", GOOD), ("generated/x/job.yaml", JOB)]))
    assert [(str(finding.location), finding.path, finding.message) for finding in findings] == [
        ("generated/x/job.yaml:3:36", "metadata.labels.size", "kubeconform: got number, want null or string"),
        ("generated/x/job.yaml:5:3", "spec", "kubeconform: additional properties 'paralelism' not allowed"),
    ]
    assert {(finding.rule, finding.layer, finding.source) for finding in findings} == {
        ("schema/kubeconform", "schema", f"kubeconform {kubeconform.VERSION}")
    }
    assert str(findings[0].object) == "Job x"


@pytest.mark.go
def test_documents_of_one_file_are_told_apart(root, known):
    """Of several documents the one that is wrong is named."""
    (finding,) = engine.check(root, known, [("x.yaml", GOOD.replace(b"name: z}", b"name: z}\nkindd: z"))])
    assert (finding.location.line, finding.location.document, finding.object.kind) == (5, 1, "Secret")


@pytest.mark.go
def test_crds_among_the_inputs_are_known_to_both_engines(root, known):
    """A kind whose CRD is among the inputs is judged by that CRD; without it, it is unknown."""
    (finding,) = engine.check(root, known, [("probe.yaml", PROBE)])
    assert "could not find schema for Probe" in finding.message
    more = known.with_crds([make_crd({"size": {"type": "integer"}})])
    (finding,) = engine.check(root, more, [("probe.yaml", PROBE)])
    assert (finding.path, finding.location.line) == ("spec.size", 4)


@pytest.mark.go
def test_every_release_is_a_location(root):
    """Core groups, groups of operators and shared groups are all found."""
    known, _ = catalog.load(root / "schemas")
    manifests = [
        "{apiVersion: v1, kind: Pod, metadata: {name: x}, spec: {containers: [{name: a}]}}",
        "{apiVersion: events.k8s.io/v1, kind: Event, metadata: {name: x}, eventTime: null}",
        "{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: x}}",
        "{apiVersion: k8s.cni.cncf.io/v1, kind: NetworkAttachmentDefinition, metadata: {name: x}}",
        "{apiVersion: kubeflow.org/v1, kind: MPIJob, metadata: {name: x}}",
        "{apiVersion: trainer.kubeflow.org/v1alpha1, kind: TrainJob, metadata: {name: x}}",
    ]
    findings = engine.check(root, known, [(f"{index}.yaml", text.encode()) for index, text in enumerate(manifests)])
    assert [finding.message for finding in findings] == []


@pytest.mark.go
def test_results_are_kept_by_content(root, known, tmp_path, monkeypatch):
    """A second run on the same files asks the engine nothing; where one is wrong, it is asked twice at first."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    repository = tmp_path / "repository"
    place = repository / kubeconform.FOLDER
    place.mkdir(parents=True)
    program = place / "kubeconform"
    program.write_text(f'#!/bin/sh\necho run >> "{tmp_path}/runs"\nexec "{kubeconform.find(root)}" "$@"\n')
    program.chmod(0o755)
    monkeypatch.setattr(kubeconform, "RECORD", tmp_path / "share" / "programs.sha256")
    kubeconform.record(program)
    first = list(engine.check(repository, known, [("job.yaml", JOB)]))
    assert list(engine.check(repository, known, [("job.yaml", JOB)])) == first
    assert (tmp_path / "runs").read_text() == "run\n" * 2
    assert len(list(engine.check(repository, known, [("job.yaml", JOB), ("x.yaml", JOB + b"# again\n")]))) == 4
    assert (tmp_path / "runs").read_text() == "run\n" * 4


@pytest.mark.go
def test_one_wrong_file_among_many_is_found(root, known, tmp_path, monkeypatch):
    """Whatever stands before it, and however a file begins or ends, a wrong file's results are its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    good = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}"
    forms = {
        "good": good,
        "marked": b"---\n" + good + b"\n...",
        "literal": good + b"\ndata:\n  a: |\n    text",
        "several": good + b"\n---\n" + good,
        "windows": good.replace(b"\n", b"\r\n"),
        "comment": b"# nothing\n",
    }
    wrong = {f"wrong {name}": data.replace(b"ConfigMap", b"ConfigMop", 1) for name, data in forms.items()}
    for name, data in wrong.items():
        files = [*forms.items(), (name, data), ("last", good)]
        asked = list(engine.check(root, known, [*files]))
        assert {finding.location.file for finding in asked} == ({name} if b"Mop" in data else set()), name


def test_a_program_of_the_checkout_is_run_by_its_hash_alone(tmp_path, monkeypatch, machine):
    """One that a branch brings, with its mark, is refused with what helps, and installed anew by the next setup."""
    data = make_archive()
    monkeypatch.setitem(kubeconform.SHA256, machine, hashlib.sha256(data).hexdigest())
    place = tmp_path / "checkout" / kubeconform.FOLDER
    place.mkdir(parents=True)
    (place / "kubeconform").write_text("#!/bin/sh\necho '{}'\n", encoding="utf-8")
    (place / "kubeconform.version").write_text(kubeconform.VERSION, encoding="utf-8")
    with pytest.raises(ToolError, match="is not the kubeconform that was installed, by its hash"):
        kubeconform.find(tmp_path / "checkout")
    kubeconform.install(place, fetch=lambda _: data)
    assert kubeconform.find(tmp_path / "checkout").read_bytes() == b"#!/bin/sh\n"
    (place / "kubeconform").write_text("#!/bin/sh\necho evil\n", encoding="utf-8")
    assert kubeconform.installed_program(tmp_path / "checkout") is None


def test_a_program_on_the_path_is_not_of_the_checkout(tmp_path, monkeypatch, recorded):
    """A PATH that leads into the checkout gives nothing that was not installed there."""
    program = tmp_path / "checkout" / "bin" / "kubeconform"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    assert kubeconform.installed_program(tmp_path / "checkout") is None
    assert kubeconform.installed_program(tmp_path / "other") == program
