"""Reading a repository: what is a spec, where every field stands, small files, and jobs written in Python."""

from __future__ import annotations

from pathlib import Path

import pytest

import make
from conftest import ROOT
from trainyard.faces.drafts import job as draft
from trainyard.judge.preflight import check_repository
from trainyard.specs.load import read_repository
from trainyard.specs.run import digest

SWEEP = f'''
from trainyard.specs import Job

def jobs():
    for rate in ("1e-4", "3e-4"):
        yield f"sweep-{{rate.replace('-', '')}}", Job(
            cluster="test", launcher="torchrun", image="{make.IMAGE}", program="train.py",
            args=["--rate", rate], pool="gpu", gpus_per_node=2, queue="research",
        )
'''


def with_python(root: Path, text: str, name: str = "sweep.py") -> Path:
    """Write a repository whose team may write Python, with one program."""
    make.write_repository(root, teams={"nlp": {**make.TEAM, "python": True}})
    (root / "jobs" / "nlp" / name).write_text(text, encoding="utf-8")
    return root


def test_this_repository_loads_clean():
    """The repository's own specs have no finding."""
    checked = check_repository(ROOT)
    specs = checked.specs
    assert checked.findings == []
    assert len(checked.runs) == len(specs.jobs)
    assert {"kind", "atlas", "borealis", "nimbus"} <= set(specs.clusters)
    assert {"nlp", "vision", "ads"} <= set(specs.teams)
    assert len(specs.jobs) >= 10


def test_every_field_has_a_place(tmp_path):
    """A field's finding points at its line and column in the file that a person edits."""
    specs = read_repository(make.write_repository(tmp_path)).specs
    (job,) = specs.jobs
    text = (tmp_path / job.source.file).read_text("utf-8").splitlines()
    place = job.source.location(("gpusPerNode",))
    assert text[place.line - 1][place.column - 1 :] == "8"
    key = job.source.location(("gpusPerNode",), key=True)
    assert text[key.line - 1].startswith("gpusPerNode", key.column - 1)
    assert set(specs.sources) == {"repository", "cluster/test", "team/nlp"}


def test_jobs_are_sorted_by_team_and_name(tmp_path):
    """The order of jobs is theirs, not the disk's."""
    jobs = {f"{team}/{name}": make.JOB for team in ("vision", "nlp") for name in ("b", "a-1", "a")}
    queues = {"research": {"teams": ["nlp", "vision"], "nominalQuota": {"gpu": {"gpus": 32}}}}
    root = make.write_repository(
        tmp_path,
        jobs=jobs,
        teams={"nlp": make.TEAM, "vision": make.TEAM},
        clusters={"test": {**make.CLUSTER, "queues": queues}},
    )
    loaded = read_repository(root)
    specs, findings = loaded.specs, loaded.findings
    assert not findings
    assert [(job.team, job.name) for job in specs.jobs] == [
        ("nlp", "a"),
        ("nlp", "a-1"),
        ("nlp", "b"),
        ("vision", "a"),
        ("vision", "a-1"),
        ("vision", "b"),
    ]


def test_small_files_are_part_of_the_run(tmp_path):
    """A YAML file that a job names is no job, its text is read, and a change of it is another run."""
    job = {**make.JOB, "files": [{"source": "Config_2.yaml", "mountPath": "/etc/llm"}]}
    root = make.write_repository(tmp_path, jobs={"nlp/train": job})
    config = root / "jobs" / "nlp" / "Config_2.yaml"
    digests = set()
    for text in ("layers: {{ not yaml }}: [\n", "layers: 33\n"):
        config.write_text(text, encoding="utf-8")
        loaded = read_repository(root)
        assert not loaded.findings
        (job_file,) = loaded.specs.jobs
        assert dict(job_file.contents) == {"Config_2.yaml": text}
        digests.add(digest(job_file.job, job_file.contents))
    assert len(digests) == 2


def test_a_job_cannot_hide_behind_another(tmp_path):
    """A job that another job names as its small file is reported, never dropped."""
    job = {**make.JOB, "files": [{"source": "other.yaml", "mountPath": "/etc/llm"}]}
    root = make.write_repository(tmp_path, jobs={"nlp/train": job, "nlp/other": make.JOB})
    loaded = read_repository(root)
    specs, findings = loaded.specs, loaded.findings
    assert [job.name for job in specs.jobs] == ["train"]
    assert [finding.rule for finding in findings] == ["spec/job-as-file"]


def test_python_jobs_are_jobs(tmp_path):
    """A program yields the same models: names begin with its own, places are the lines that yield."""
    root = with_python(tmp_path, SWEEP)
    loaded = read_repository(root)
    specs, findings = loaded.specs, loaded.findings
    assert not findings
    assert [job.name for job in specs.jobs] == ["sweep-1e4", "sweep-3e4", "train"]
    line = str(specs.jobs[0].source.location())
    assert line.startswith("jobs/nlp/sweep.py:")
    assert "yield" in SWEEP.splitlines()[int(line.split(":")[1]) - 1]


def test_python_and_yaml_give_one_digest(tmp_path):
    """The fields of a program's job are those of the file that says the same."""
    root = with_python(tmp_path, SWEEP)
    fields = make.fields(make.JOB, {"args": ["--rate", "1e-4"], "gpus_per_node": 2, "nodes": None, "priority": None})
    make.write_repository(root, jobs={"nlp/twin": fields}, teams={"nlp": {**make.TEAM, "python": True}})
    specs = read_repository(root).specs
    found = {job.name: digest(job.job, job.contents) for job in specs.jobs}
    assert found["twin"] == found["sweep-1e4"]


def yields(fields: str, name: str = "'sweep-a'") -> str:
    """Return a program that yields one job."""
    return f"from trainyard.specs import Job\n\ndef jobs():\n    yield {name}, Job({fields})\n"


COMMON = (
    f"cluster='test', launcher='torchrun', image='{make.IMAGE}', program='a.py', pool='gpu', queue='research', "
    "gpus_per_node=8"
)

HALF = "job 'sweep-a' contains half a surrogate pair"

PROGRAMS = {
    "no function": ("x = 1\n", "program has no function jobs()"),
    "a syntax error": ("def jobs(:\n", "program is not valid Python"),
    "an error of its own": ("def jobs():\n    raise KeyError('x')\n", "program stopped with KeyError"),
    "a wrong field": (yields(COMMON + ", gpus_per_nod=8"), "field 'gpus_per_nod' does not exist in a job"),
    "a wrong value": (yields(COMMON + ", nodes=0"), "nodes is 0, but must be at least 1"),
    "a cross reference": (yields(COMMON.replace("'gpu'", "'gpus'")), "in job 'sweep-a', pool 'gpus' does not exist"),
    "a foreign name": (yields(COMMON, "'other'"), "job name 'other' must begin with 'sweep-'"),
    "an upper-case name": (yields(COMMON, "'sweep-A'"), "job name 'sweep-A' must be"),
    "a name that no object has": (
        yields(COMMON, "'a' * 5000"),
        "jobs() yields a name of 5000 characters; write 30 at most",
    ),
    "something else": ("def jobs():\n    yield 3\n", "jobs() yields int"),
    "another package": ("import yaml\ndef jobs(): return []\n", "program imports 'yaml'"),
    "a part of ours": (
        "import trainyard.base.system.git\ndef jobs(): return []\n",
        "program imports 'trainyard.base.system.git'",
    ),
    "a relative import": ("from . import x\ndef jobs(): return []\n", "program imports '.'"),
    "the disk": ("def jobs():\n    open('/etc/hostname')\n", "program uses open"),
    "a write": ("def jobs():\n    open('x', 'w')\n", "program uses open"),
    "the network": (
        "import socket\ndef jobs():\n    socket.create_connection(('localhost', 9))\n",
        "program uses socket",
    ),
    "another program": ("import os\ndef jobs():\n    os.system('true')\n", "program uses os.system"),
    "too much memory": ("def jobs():\n    x = bytearray(2**31)\n", "program needs more than 1024 MiB"),
    "too many jobs": (
        yields(COMMON).replace("    yield", "    while True: yield"),
        "jobs() yields more than 1000 jobs",
    ),
    "an exit": ("import os\nos._exit(0)\n", "program ended without an answer"),
    "the specs beside our package": (
        "import trainyard.specs as s\nopen(s.__file__.split('/trainyard/')[0] + '/clusters/atlas.yaml')\n",
        "program uses open",
    ),
    "the machine's settings": ("import os\nos.sysconf('SC_OPEN_MAX')\n", "program uses os.sysconf"),
    "the session": ("import os\nos.getsid(0)\n", "program uses os.getsid"),
    "half a surrogate pair": (yields(COMMON + ", args=['\\ud800']"), HALF),
    "half a surrogate pair in a name": (yields(COMMON, "'sweep-\\ud800'"), "job 'sweep-\\ud800' contains"),
    "half a surrogate pair in an error": ("raise KeyError('\\ud800')\n", "program stopped with KeyError"),
    "half a surrogate pair in a message": ("raise ValueError('a\\ud800')\n", "program stopped with ValueError: a?"),
    "a lie about the end": ("raise SystemExit\n", "program stopped with SystemExit"),
    "two jobs of one name": (
        yields(COMMON) + f"    yield 'sweep-a', Job({COMMON})\n",
        "file defines job 'sweep-a', which",
    ),
}


@pytest.fixture(scope="module")
def failures(tmp_path_factory) -> dict[str, list[str]]:
    """Messages of every program above by its file; all run in one pass, each in a process of its own."""
    root = tmp_path_factory.mktemp("programs")
    make.write_repository(root, teams={"nlp": {**make.TEAM, "python": True}})
    for number, (text, _) in enumerate(PROGRAMS.values()):
        own = text.replace("sweep-", f"sweep{number}-")
        (root / f"jobs/nlp/sweep{number}.py").write_text(f"print('hello')\n{own}", encoding="utf-8")
    before = sorted(root.rglob("*"))
    findings = check_repository(root).findings
    assert sorted(root.rglob("*")) == before
    found: dict[str, list[str]] = {}
    for finding in findings:
        found.setdefault(finding.location.file, []).append(finding.message)
    return found


@pytest.mark.parametrize("case", PROGRAMS)
def test_programs_fail_in_words(case, failures):
    """Whatever a program does wrong is a finding at its file."""
    number = list(PROGRAMS).index(case)
    message = PROGRAMS[case][1].replace("sweep-", f"sweep{number}-")
    assert [found for found in failures[f"jobs/nlp/sweep{number}.py"] if found.startswith(message)], failures


def test_programs_have_no_environment(tmp_path, monkeypatch):
    """Secrets of whoever reads the repository are not there for programs; to ask for them is an error."""
    monkeypatch.setenv("TOKEN", "hunter2")
    program = "import os\n" + yields(COMMON + ", env={'A': os.environ.get('TOKEN', 'none')}")
    loaded = read_repository(with_python(tmp_path, program))
    assert loaded.specs.jobs[0].job.env == {"A": "none"}
    assert [finding.rule for finding in loaded.findings] == ["spec/python-same"]


def test_programs_import_the_standard_library(tmp_path):
    """Modules that look for others, which are not there, are imported as anywhere; what cannot be written is no end."""
    modules = "copy, http.client, multiprocessing, os, pickle, shelve, tempfile"
    tries = "try:\n    __import__('numpy')\nexcept ModuleNotFoundError:\n    print('none \\ud800')\n"
    loaded = read_repository(with_python(tmp_path, f"import {modules}\n{tries}{yields(COMMON)}"))
    assert not loaded.findings
    assert [item.text for item in loaded.printed] == ["none ?\n"]


def test_programs_see_a_made_up_machine(tmp_path):
    """What tells of processors, memory, users and processes differs in another world, and is an error."""
    asked = ("sysconf('SC_NPROCESSORS_ONLN')", "getgroups()", "getresuid()", "getresgid()", "umask(0)")
    root = make.write_repository(tmp_path, teams={"nlp": {**make.TEAM, "python": True}})
    for number, item in enumerate(asked):
        text = "import os\n" + yields(COMMON + f", args=[str(os.{item})]", f"'sweep{number}'")
        (root / f"jobs/nlp/sweep{number}.py").write_text(text, encoding="utf-8")
    found = {finding.location.file: finding.message for finding in read_repository(root).findings}
    assert len(found) == len(asked)
    assert all("by machine or user" in message for message in found.values()), found


def test_a_python_file_may_be_a_small_file(tmp_path):
    """A script that a job names in `files` is not run."""
    job = {**make.JOB, "files": [{"source": "helper.py", "mountPath": "/opt"}]}
    root = make.write_repository(tmp_path, jobs={"nlp/train": job})
    (root / "jobs/nlp/helper.py").write_text("raise SystemExit(1)\n", encoding="utf-8")
    loaded = read_repository(root)
    specs, findings = loaded.specs, loaded.findings
    assert not findings
    assert specs.jobs[0].contents == {"helper.py": "raise SystemExit(1)\n"}


def test_own_objects_know_their_folder(tmp_path):
    """Plain objects are read one a document, with cluster and folder."""
    root = make.write_repository(tmp_path)
    folder = root / "platform/extra/test/teams/nlp"
    folder.mkdir(parents=True)
    (folder / "x.yaml").write_text("kind: A\n---\nkind: B\n", encoding="utf-8")
    loaded = read_repository(root)
    specs, findings = loaded.specs, loaded.findings
    assert not findings
    assert [(file.cluster, file.folder, file.source.document.value["kind"]) for file in specs.extra] == [
        ("test", "teams/nlp", "A"),
        ("test", "teams/nlp", "B"),
    ]


DRAFTS = {
    "a good job": ("train-2", make.JOB, []),
    "a bad name": ("Train", make.JOB, ["spec/job-name"]),
    "a bad field": ("train-2", {**make.JOB, "nodez": 1}, ["spec/unknown-field"]),
    "a value out of range": ("train-2", {**make.JOB, "nodes": 0}, ["spec/range"]),
}


@pytest.mark.parametrize(("name", "fields", "rules"), DRAFTS.values(), ids=DRAFTS)
def test_a_draft_is_judged_before_it_is_written(name, fields, rules):
    """A new job's text is read as its file would be; what it names is looked at with the whole repository."""
    file, findings = draft.read_draft(team="nlp", name=name, text=draft.HEADER + make.dump(fields))
    assert [finding.rule for finding in findings] == rules
    assert (file is None) == bool(rules)


def test_a_repository_without_settings_is_told_what_to_write(tmp_path):
    """Whether clusters sync the repository must be said, so the file that says it must be there."""
    root = make.write_repository(tmp_path)
    (root / "platform/repository.yaml").unlink()
    findings = read_repository(root).findings
    assert [str(finding.location) for finding in findings] == ["platform/repository.yaml:1:1"]
    assert findings[0].message == "file is missing; write live and repoURL into it"


@pytest.mark.parametrize("address", ["https://a.example.com/x?token=hunter2", "https://me:hunter2@a.example.com/x#y"])
def test_no_message_shows_what_an_address_has_for_its_server(tmp_path, address: str) -> None:
    """A refused address is quoted without its password, and without what it asks."""
    root = make.write_repository(tmp_path, repository={**make.REPOSITORY, "repoURL": address})
    found = [finding.message for finding in check_repository(root).findings if finding.rule == "spec/form"]
    assert found
    assert not any("hunter2" in item for item in found)
