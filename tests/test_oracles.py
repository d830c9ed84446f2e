"""The oracles are of the releases that are told, say what they lack, and stay out of what is installed."""

from __future__ import annotations

import hashlib
import re
import shutil
import stat
import subprocess
import sys

import pytest
import yaml
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder

from conftest import ROOT, TESTS
from oracles import agree, build, certs, components, manifests, operators, paths, pools, questions

FOLDER = ROOT / "tools" / "oracles"
CLUSTER = FOLDER / "cluster"
LARGE = 2_000_000
TEXTS = sorted(
    path
    for path in FOLDER.rglob("*")
    if path.is_file() and "__pycache__" not in path.parts and path.name not in {"go.sum", "prove.expected.txt"}
)
STRANGE = re.compile(r"/work/|\.\./(?:shared|knowledge|crds)|/home/|proxy\.golang|pypi\.")


def module(name):
    """Return what the go.mod of a component of the cluster requires: release by module."""
    text = (CLUSTER / "modules" / name / "go.mod").read_text(encoding="utf-8")
    return dict(re.findall(r"^(?:require )?\s*(\S+) v(\S+)(?: // indirect)?$", text, re.MULTILINE))


@pytest.mark.parametrize("name", components.OPERATORS)
def test_operators_are_built_from_the_release_that_is_told(name):
    """The release of an operator is the one that its go.mod requires."""
    told = components.OPERATORS[name]
    assert module(name)[told.module] == told.version


def test_everything_else_is_built_from_the_release_that_is_told():
    """So are etcd, KWOK, Argo CD and Kubernetes."""
    assert module("etcd")["go.etcd.io/etcd/server/v3"] == components.ETCD
    assert module("kwok")["sigs.k8s.io/kwok"] == components.KWOK
    for name, path, versions in (
        ("kubernetes", "k8s.io/kubernetes", components.KUBERNETES),
        ("argocd", "github.com/argoproj/argo-cd/v3", components.ARGOCDS),
    ):
        for version in versions:
            text = (CLUSTER / "modules" / name / f"{version}.mod").read_text(encoding="utf-8")
            assert re.search(rf"{re.escape(path)} v{re.escape(version)}\s", text)
    assert build.release("kubelet") == components.KUBERNETES_DEFAULT


NAMES = {
    "Kueue": {build.release("kueue")},
    "kubelet": {build.release("kubelet")},
    "Helm": {build.release("helm")},
    "kube-scheduler": {components.KUBERNETES_DEFAULT},
    "Volcano": {components.OPERATORS["volcano"].version},
    "Argo CD": set(components.ARGOCDS),
}


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "tools/oracles/README.md", "tools/oracles/cluster/README.md"])
def test_pages_tell_the_releases_that_are_built(page):
    """Where a page names an oracle with a release, it is that of the module."""
    text = (ROOT / page).read_text(encoding="utf-8")
    said = re.findall(rf"({'|'.join(NAMES)}) v?(\d+\.\d+\.\d+)", text)
    assert said or page.endswith("cluster/README.md")
    assert not [(name, version) for name, version in said if version not in NAMES[name]]


def test_nothing_here_points_elsewhere():
    """No file names a folder of one machine or what is beside the repository, and none is large."""
    assert not [path.name for path in FOLDER.rglob("*") if path.is_file() and path.stat().st_size > LARGE]
    found = {path.name: STRANGE.findall(path.read_text(encoding="utf-8")) for path in TEXTS}
    assert not {name: value for name, value in found.items() if value}


def test_executables_are_executable():
    """What the README calls as a program can be called, and is a module with a main function."""
    for name in ("up", "down", "status", "build", "dry-run", "prove", "argocd", "configure", "empty"):
        path = CLUSTER / name
        assert path.stat().st_mode & stat.S_IXUSR, name
        (called,) = re.findall(r"^from oracle\.(\w+) import main$", path.read_text(), re.MULTILINE)
        assert "def main() -> int:" in (CLUSTER / "oracle" / f"{called}.py").read_text(), name


def test_make_knows_the_targets():
    """`make oracles` and `make agreement` exist, and hand on what they are given."""
    done = subprocess.run(
        ["make", "-n", "oracles", "agreement", "O=kueue", "A=kubelet", "READY=", "KUBECONFORM="],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "tools/oracles/build.py kueue" in done.stdout
    assert "tools/oracles/agree.py kubelet" in done.stdout


@pytest.mark.parametrize("builder", [SdistBuilder, WheelBuilder])
def test_oracles_are_not_installed(builder):
    """Neither sdist nor wheel holds an oracle, or anything of the tests: patterns are of whole paths."""
    held = [
        recurse_included_file.distribution_path for recurse_included_file in builder(str(ROOT)).recurse_included_files()
    ]
    assert len(held) > 100
    assert not [path for path in held if path.startswith(("tools/oracles", "tests/"))]


def run(script, *arguments, home):
    """Run a program of the oracles with nothing built."""
    command = [sys.executable, FOLDER / script, *arguments]
    env = {"PATH": "/usr/bin:/bin", "ORACLES_HOME": str(home), "HOME": str(home)}
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


def test_what_is_not_built_is_named_with_the_command_that_builds_it(tmp_path):
    """Asked about oracles that are not there, nothing is started, and each is named with its command."""
    done = run("agree.py", "kueue", "argocd", home=tmp_path)
    assert done.returncode == 2
    assert "kueue is not built; run make oracles O=kueue" in done.stderr
    assert "run make oracles O=cluster && make oracles O=argocd" in done.stderr
    assert not [*tmp_path.glob("run*")]


def test_the_table_lists_every_oracle(tmp_path):
    """Without a name, the oracles are listed with minutes, size and whether they are built."""
    done = run("build.py", home=tmp_path)
    assert done.returncode == 0, done.stderr
    for name in build.ORACLES:
        assert re.search(rf"^{name} +no +\d+ +\d+  \S", done.stdout, re.MULTILINE), name
    assert run("build.py", "kuue", home=tmp_path).returncode == 2


def test_every_question_can_be_asked():
    """Tools and tests that are asked exist, and what they need has a command that builds it."""
    for name, subject in questions.SUBJECTS.items():
        assert all(agree.command(need).startswith("make oracles O=") for need in subject.needs), name
        for question in subject.questions:
            files = [word for word in question.command if word.startswith(("tests/", "tools/")) and " " not in word]
            assert files, question.what
            assert all((ROOT / word).exists() for word in files), question.what
            assert bool(question.count) == bool(question.read), question.what


def test_every_variable_is_set():
    """Each variable by which tests find an oracle is set by some question."""
    pattern = re.compile(r"\"(TRAINYARD_(?:\w+_ORACLE|KUBECONFIG|ARGOCD|EMPTY_CLUSTER))\"")
    read = {name for path in TESTS.rglob("*.py") for name in pattern.findall(path.read_text(encoding="utf-8"))}
    assert read == {name for subject in questions.SUBJECTS.values() for name in subject.variables}


KUEUE = """3 cases; 0 unstable; 0 crash it
outcomes          2 of 3 agree, 66.667 %
seed 12: outcomes, victims differ
4 s
"""
PRINTED = {
    "a table of Kueue's": (questions.of_kueue, KUEUE, (3, 1)),
    "a table of the kubelet's": (questions.of_kubelet, "cases            369 of     371   99.4609%\n", (371, 2)),
    "a line of the scheduler's": (questions.DIFFER, "seed 3: x\n60 cases, 1 differ; 20 s\n", (60, 1)),
    "a line of a cluster's": (questions.OF_CLUSTERS, "7 clusters, 40 jobs, 0 differ, 1 become now\n", (40, 0)),
    "tests that pass": (questions.of_pytest, "....\n4 passed, 2 skipped in 3.00s", (4, 0)),
    "tests that fail": (questions.of_pytest, "F.\n1 failed, 3 passed, 1 error in 3.00s", (5, 2)),
    "tests that are skipped": (questions.of_pytest, "s\n1 skipped in 0.10s", (0, 0)),
}


@pytest.mark.parametrize(("read", "printed", "counts"), PRINTED.values(), ids=PRINTED)
def test_counts_are_read_from_what_is_printed(read, printed, counts):
    """Cases and differences are those that the command prints."""
    assert read(printed) == counts


QUESTIONS = {
    "all agree": ("print('5 cases, 0 differ')", (5, 0, "")),
    "one differs": ("import sys; print('5 cases, 1 differ'); sys.exit(1)", (5, 1, "differs")),
    "nothing was asked": ("print('0 cases, 0 differ')", (0, 0, "nothing was asked")),
    "the command stops": ("import sys; sys.exit(3)", (0, 0, "stopped with exit code 3")),
}


@pytest.mark.parametrize(("program", "said"), QUESTIONS.values(), ids=QUESTIONS)
def test_a_question_becomes_a_row(program, said):
    """The row has the counts, and why it is not as it should be."""
    question = questions.Question("anything", ("-c", program), 5, questions.DIFFER)
    row = agree.ask("kueue", questions.SUBJECTS["kueue"], question, {"program": "x"}, 1)
    assert (row.cases, row.differ, row.failed) == said


def test_crds_are_written_only_if_their_hash_is_right(tmp_path):
    """A file is checked by the hash of the lock; of a file of several, those that the lock names are written."""
    kind = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
    crds = [{**kind, "metadata": {"name": f"{name}.example.com"}, "spec": {}} for name in "ab"]
    data = yaml.safe_dump_all(crds).encode()
    entry = {"path": "crds.yaml", "sha256": hashlib.sha256(data).hexdigest(), "crds": {"a.example.com": ""}}
    projects = {"some": {"1.0.0": {"repository": "a/b", "tag": "v1.0.0", "files": [entry]}}}
    places = []
    build.write_crds(projects, lambda place: (places.append(place), data)[1], tmp_path / "right")
    assert places == ["a/b/v1.0.0/crds.yaml"]
    assert [path.name for path in tmp_path.rglob("*.yaml")] == ["a.example.com.yaml"]
    with pytest.raises(SystemExit, match="but the lock says"):
        build.write_crds(projects, lambda _: data + b"\n", tmp_path / "wrong")


def test_crds_that_are_nowhere_are_named(tmp_path, monkeypatch, capsys):
    """Without fetched CRDs those of the operators are taken; what is missing is said with the command."""
    monkeypatch.setattr(paths, "CRDS", tmp_path / "crds")
    monkeypatch.setattr(paths, "MANIFESTS", tmp_path / "manifests")
    crds = tmp_path / "manifests" / "jobset-0.12.0" / "config/components/crd/bases"
    crds.mkdir(parents=True)
    (crds / "jobsets.yaml").write_text("kind: CustomResourceDefinition")
    assert manifests.projects("training", "newest") == ["jobset"]
    assert "make oracles O=crds" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="make oracles O=crds"):
        manifests.projects("all", "newest")
    for release in ("0.9.0", "0.12.0"):
        (tmp_path / "crds" / "jobset" / release).mkdir(parents=True)
        (tmp_path / "crds" / "jobset" / release / "a.yaml").touch()
    assert manifests.projects("all", "newest") == ["jobset"]
    assert [manifests.releases(line)["jobset"].name for line in ("newest", "previous")] == ["0.12.0", "0.9.0"]


@pytest.mark.skipif(not shutil.which("openssl"), reason="openssl signs the certificates of a cluster")
def test_certificates_are_signed_by_the_authority(tmp_path):
    """A server's certificate names its hosts and loopback, and its authority vouches for it."""
    authority = certs.Authority(tmp_path)
    certificate, key = authority.issue(tmp_path / "tls", "system:x", ["system:masters", "b"], dns=("a.b.svc",))
    checked = ["openssl", "verify", "-CAfile", str(authority.cert_path), str(certificate)]
    assert "OK" in subprocess.run(checked, capture_output=True, text=True, check=True).stdout
    shown = ["openssl", "x509", "-noout", "-subject", "-ext", "subjectAltName", "-in", str(certificate)]
    text = subprocess.run(shown, capture_output=True, text=True, check=True).stdout
    for word in ("system:masters", "system:x", "DNS:a.b.svc", "IP Address:127.0.0.1"):
        assert word in text
    assert b"BEGIN RSA PRIVATE KEY" in authority.key_path.read_bytes()
    assert key.stat().st_mode & 0o777 == 0o600


def test_kueue_is_configured_as_given_on_this_machine():
    """A given configuration counts, but for addresses and ports, and its gates stand beside ours."""
    first = {"webhook": {"port": 1}, "health": {"a": "b"}, "integrations": {}, "featureGates": {"Ours": False}}
    given = {"webhook": {"port": 9443}, "integrations": {"frameworks": ["batch/job"]}, "featureGates": {"Theirs": True}}
    found = operators.merged_configuration(first, {**given, "internalCertManagement": {}, "fairSharing": {}})
    gates = {"Ours": False, "Theirs": True}
    assert found == {**given, "webhook": {"port": 1}, "health": {"a": "b"}, "fairSharing": {}, "featureGates": gates}


def test_pools_become_nodes():
    """Blocks of racks of nodes are labelled by block and rack, a plain count is not."""
    sized = {"resources": {"cpu": 4}, "nodes": 2}
    racked = {"name": "a", **sized, "blocks": 2, "racks": 2}
    config = {"blockLabel": "block", "rackLabel": "rack", "pools": [racked, {"name": "b", **sized}]}
    found = {expand_node["metadata"]["name"]: expand_node for expand_node in pools.expand_nodes(config)}
    assert len(found) == 10
    assert found["a-b1-r0-n1"]["metadata"]["labels"].items() >= {"block": "a-b1", "rack": "a-b1-r0"}.items()
    assert "rack" not in found["b-1"]["metadata"]["labels"]
    assert found["b-1"]["status"]["allocatable"] == {"pods": "110", "cpu": "4"}
