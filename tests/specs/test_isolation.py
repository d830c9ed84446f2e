"""Programs that make jobs, written to get out: none reads, writes, starts, reaches or answers for anything."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests import make

from trainyard.base.system.trust import UNSAFE
from trainyard.specs.load import read_repository

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="programs are isolated on Linux alone")

CONFINED = Path(__file__).parent / "confined.py"

OPENED = """
import sys
g = sys.modules["trainyard.specs.reading.programs.sandbox"]
g.READS, g.REFUSED = (), ("~",)
import ctypes, os, socket, subprocess, time
libc = ctypes.CDLL(None, use_errno=True)
"""
"""Turns off everything that Python refuses: two assignments, and the C library by itself."""

YIELDS = f"""
from trainyard.specs import Job
def jobs():
    yield "sweep", Job.model_validate({ {**make.JOB, "args": ["ARGS"]}!r})
""".replace("'ARGS'", "str(got)[:200]")

TRIES = {
    "a command": "got = os.system('touch {marker}') == 0 or None",
    "a program, by the C library": "got = libc.system(b'touch {marker}') == 0 or None",
    "a program, past every audit": (
        "import _posixsubprocess as p\nr, w = os.pipe()\n"
        "got = p.fork_exec([b'/bin/touch', b'{marker}'], [b'/bin/touch'], True, (w,), None, None, -1, -1, -1, -1, -1,"
        " -1, r, w, False, False, 0, None, None, None, -1, None, False)"
    ),
    "another process": "got = os.fork()",
    "another process, by the call": "got = libc.syscall(57) if libc.syscall(57) >= 0 else None",
    "a thread": "import _thread\ngot = _thread.start_new_thread(print, ())",
    "the environment of the parent": "got = ascii(open('/proc/{parent}/environ').read())",
    "its own environment before": "got = ascii(open('/proc/self/environ').read())",
    "a list of processes": "got = os.listdir('/proc')",
    "a file": "got = open('/etc/passwd').read()",
    "a file, by the C library": (
        "b = ctypes.create_string_buffer(99)\nf = libc.open(b'/etc/passwd', 0)\n"
        "got = libc.read(f, b, 99) if f > 2 else None"
    ),
    "a file, by readline": (
        "import readline\nreadline.read_history_file('/etc/passwd')\n"
        "got = [readline.get_history_item(n) for n in range(1, 3)]"
    ),
    "a secret file": "got = open('{secret}').read()",
    "a folder": "got = os.listdir('{folder}')",
    "a file that is written": "got = open('{marker}', 'w').write('x')",
    "a database": (
        "import sqlite3\nc = sqlite3.connect('{marker}')\nc.execute('create table t (x)')\ngot = c.commit() or 1"
    ),
    "a pipe with a name": "got = os.mkfifo('{marker}') or 1",
    "a folder that is made": "got = os.mkdir('{marker}') or 1",
    "a link": "got = os.symlink('/etc', '{marker}') or 1",
    "a file that is renamed": "got = os.rename('{secret}', '{marker}') or 1",
    "a file that is removed": "got = os.unlink('{secret}') or 1",
    "a mode that is changed": "got = os.chmod('{secret}', 0o777) or 1",
    "limits of the parent": "import resource as r\ngot = r.prlimit({parent}, r.RLIMIT_CPU)",
    "limits of the parent, lowered": "import resource as r\ngot = r.prlimit({parent}, r.RLIMIT_NOFILE, (99, 99))",
    "a socket": "got = socket.socket()",
    "a local socket": "got = socket.socket(socket.AF_UNIX)",
    "a pair of sockets": "got = socket.socketpair()",
    "a signal to the parent": "got = os.kill({parent}, 0) or 1",
    "a signal to the process that runs programs": "got = libc.kill(1, 0) == 0 or None",
    "a signal to everybody": "got = libc.kill(-1, 0) == 0 or None",
    "a descriptor of a process": "got = os.pidfd_open({parent})",
    "a signal by descriptor": "import signal\ngot = signal.pidfd_send_signal(os.pidfd_open({parent}), 0) or 1",
    "a trace of the parent": "r = libc.ptrace(16, {parent}, 0, 0)\ngot = r if r >= 0 else None",
    "memory of another": "r = libc.process_vm_readv({parent}, 0, 0, 0, 0, 0)\ngot = r if r >= 0 else None",
    "shared memory": (
        "from multiprocessing import shared_memory as s\ngot = s.SharedMemory(name='trainyard-x', create=True, size=9)"
    ),
    "shared memory of System V": "r = libc.shmget(4711, 4096, 0o1666)\ngot = r if r >= 0 else None",
    "a semaphore": "r = libc.semget(4711, 1, 0o1666)\ngot = r if r >= 0 else None",
    "a file in memory": "got = os.memfd_create('x')",
    "io_uring": "r = libc.syscall(425, 8, ctypes.create_string_buffer(256))\ngot = r if r >= 0 else None",
    "BPF": "r = libc.syscall(321, 0, 0, 0)\ngot = r if r >= 0 else None",
    "keys of the kernel": "r = libc.syscall(250, 0, -4, 0)\ngot = r if r >= 0 else None",
    "namespaces": "r = libc.unshare(0x10000000)\ngot = r if r >= 0 else None",
    "a mount": "r = libc.mount(b'none', b'/tmp', b'tmpfs', 0, 0)\ngot = r if r >= 0 else None",
    "another root": "r = libc.chroot(b'/')\ngot = r if r >= 0 else None",
    "calls of 32 bits": "r = libc.syscall(0x40000000 + 39)\ngot = r if r >= 0 else None",
    "limits that are lifted": (
        "import resource as r\nr.setrlimit(r.RLIMIT_CPU, (-1, -1))\ngot = r.getrlimit(r.RLIMIT_CPU)"
    ),
    "a timer that never ends": "r = libc.prctl(1, 0, 0, 0, 0)\ngot = r if r >= 0 else None",
    "another descriptor": ("got = [n for n in range(3, 4096) if libc.fcntl(n, 1, 0) >= 0][1:] or None"),
    "text for a terminal": "r = libc.ioctl(0, 0x5412, b'x')\ngot = r if r >= 0 else None",
}
"""What is tried, and `got` is what comes of it: nothing, or an exception."""

HARMLESS = (
    "a command",
    "a thread",
    "the environment of the parent",
    "a list of processes",
    "a file",
    "a file, by the C library",
    "a file, by readline",
    "a secret file",
    "a folder",
    "a socket",
    "a local socket",
    "a pair of sockets",
    "a signal to the parent",
    "a signal to the process that runs programs",
    "a descriptor of a process",
    "a file in memory",
    "another descriptor",
)
"""Of these, what does no harm where nothing holds it."""

OWN_ANSWERS = {
    "for another program": b'{"file": "jobs/vision/x.py", "jobs": []}',
    "twice": b'{"jobs": []}\n{"jobs": []}',
    "without a job": b'{"jobs": [{"name": "x-a"}]}',
    "with a number": b'{"problems": 5}',
    "with lists": b'{"jobs": [[1, 2]]}',
    "with a name that is none": b'{"jobs": [{"name": 5, "line": 1, "job": {}}]}',
    "with a line that is none": b'{"jobs": [{"name": "sweep", "line": "1", "job": {}}]}',
    "with differences of its own": b'{"jobs": [], "differs": 7, "seen": [[]], "printed": 5}',
    "deep": b"[" * 100_000,
    "deep in a job": b'{"jobs": [{"name": "sweep", "line": 1, "job": {"env": ' + b"[" * 900 + b"]" * 900 + b"}}]}",
    "of no form": b"\xff\x00",
    "a refusal": b'{"refused": "by nobody"}',
    "a huge number": b'{"jobs": [{"name": "sweep", "line": 1' + b"0" * 5000 + b', "job": {}}]}',
}

ANSWERS = """
for n in range(3, 4096):
    if libc.write(n, {data!r}, {size}) > 0:
        break
os._exit(0)
def jobs():
    yield
"""

GREEDY = {
    "memory": ("x = bytearray(2 ** 31)", "needs more than 1024 MiB"),
    "an answer without an end": ("got = 'x' * 2 ** 27", ""),
    "prints without an end": ("for n in range(10 ** 5):\n    print('x' * 100)\ngot = None", ""),
}

WITHOUT = {
    "all that the kernel has": (),
    "the rights of an ordinary user": ("capabilities",),
    "a container without namespaces": ("capabilities", "unshare"),
    "a kernel without Landlock": ("landlock_create_ruleset",),
}


def run(programs, *, without=(), **env):
    """Return what a process that runs programs says, in another whose environment has a secret."""
    done = subprocess.run(
        [sys.executable, "-P", str(CONFINED), *without],
        input=json.dumps(programs).encode(),
        capture_output=True,
        env={**os.environ, "CI_TOKEN": "hunter2-of-the-parent", **env},
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def texts(tries, names):
    """Return the program of each try, with what is meant by names in it; what it gets is its job's argument."""
    found = {}
    for case in tries:
        text = TRIES[case]
        for name, value in names.items():
            text = text.replace(f"{{{name}}}", str(value))
        lines = "".join(f"    {line}\n" for line in text.splitlines())
        found[case] = f"{OPENED}\ntry:\n{lines}except BaseException as e:\n    got = None; print(repr(e))\n{YIELDS}"
    return found


@pytest.fixture(scope="module", params=WITHOUT.values(), ids=WITHOUT)
def tried(request, tmp_path_factory):
    """Return what came of every try, and the folder that they were about."""
    folder = tmp_path_factory.mktemp("tried")
    (folder / "secret").write_text("hunter2-on-disk", encoding="utf-8")
    names = {
        "marker": folder / "marker",
        "secret": folder / "secret",
        "folder": folder,
        "parent": os.getpid(),
    }
    said = run(list(texts(TRIES, names).items()), without=request.param)["answers"]
    assert isinstance(said, list), said
    return dict(zip(TRIES, said, strict=True)), folder


@pytest.mark.parametrize("case", TRIES)
def test_what_a_program_tries_comes_to_nothing(case, tried):
    """Whatever is turned off in Python, the kernel refuses it: the program gets nothing, or is ended."""
    said, folder = tried
    assert "hunter2" not in json.dumps(said[case])
    made = said[case].get("jobs")
    assert made is None or made[0]["job"]["args"] == ["None"], said[case]
    assert made or "ended without an answer" in said[case]["problems"][0]["message"], said[case]
    assert sorted(path.name for path in folder.iterdir()) == ["secret"]
    assert (folder / "secret").stat().st_mode & 0o777 == 0o644


@pytest.fixture(scope="module")
def answered(tmp_path_factory):
    """Return a repository in which one team's programs answer for themselves, and another's yields a job."""
    team = {**make.TEAM, "python": True}
    root = make.write_repository(tmp_path_factory.mktemp("answers"), teams={"nlp": team, "vision": team})
    for number, data in enumerate(OWN_ANSWERS.values()):
        text = OPENED + ANSWERS.format(data=data, size=len(data))
        (root / f"jobs/nlp/sweep{number}.py").write_text(text, encoding="utf-8")
    (root / "jobs/vision").mkdir()
    text = f"from trainyard.specs import Job\ndef jobs():\n    yield 'x', Job.model_validate({make.JOB!r})\n"
    (root / "jobs/vision/x.py").write_text(text, encoding="utf-8")
    return read_repository(root)


def test_nobody_answers_for_another(answered):
    """The job of another team's program is as that yields it, and nothing is found in it."""
    assert [job.name for job in answered.specs.jobs if job.team == "vision"] == ["x"]
    assert not [finding for finding in answered.findings if "vision" in finding.location.file]


@pytest.mark.parametrize("case", OWN_ANSWERS)
def test_an_answer_of_its_own_is_a_fault(case, answered):
    """What is no answer as a program's process gives it is told as that, whatever it is."""
    file = f"jobs/nlp/sweep{list(OWN_ANSWERS).index(case)}.py"
    mine = [finding.rule for finding in answered.findings if finding.location.file == file]
    nothing = case in {"for another program", "with differences of its own"}
    assert mine == (["spec/python-empty"] if nothing else ["spec/python-error"])


@pytest.mark.parametrize("case", GREEDY)
def test_what_a_program_takes_is_bounded(case):
    """Memory, answers and prints have a limit, and whoever is beyond it has no jobs."""
    text, message = GREEDY[case]
    said = run([("jobs/nlp/sweep.py", f"{OPENED}\n{text}\n{YIELDS}".replace("[:200]", ""))])["answers"][0]
    assert message in said.get("problems", [{"message": ""}])[0]["message"]
    assert len(said.get("printed", "")) <= 8192


def test_nothing_of_a_program_outlives_its_answer(tmp_path):
    """No process is left, and the next program is answered by nobody but itself."""
    first = f"{OPENED}\ngot = libc.fork()\nif got == 0:\n    time.sleep(60)\n{YIELDS}"
    said = run([("jobs/nlp/a.py", first), ("jobs/nlp/b.py", f"got = None{YIELDS}")])["answers"]
    assert [item["jobs"][0]["job"]["args"] for item in said] == [["-1"], ["None"]]


def test_without_isolation_the_tries_succeed(tmp_path):
    """What is tried is no straw: a program that is let run gets most of it, so that the kernel is what refuses it."""
    (tmp_path / "secret").write_text("hunter2-on-disk", encoding="utf-8")
    names = {"marker": tmp_path / "marker", "secret": tmp_path / "secret", "folder": tmp_path, "parent": os.getpid()}
    programs = list(texts(HARMLESS, names).items())
    said = run(programs, **{UNSAFE: "1"})["answers"]
    none = [case for case, item in zip(HARMLESS, said, strict=True) if item["jobs"][0]["job"]["args"] == ["None"]]
    assert not none


def test_where_nothing_isolates_nothing_runs(tmp_path):
    """Without namespaces and without Landlock a program is refused with what helps, unless somebody lets it run."""
    neither = ("unshare", "landlock_create_ruleset")
    programs = [("jobs/nlp/sweep.py", f"got = 1{YIELDS}")]
    refused = run(programs, without=neither)["answers"]
    assert isinstance(refused, str)
    assert "--unsafe-python" in refused
    allowed = run(programs, without=neither, **{UNSAFE: "1"})["answers"]
    assert allowed[0]["jobs"][0]["job"]["args"] == ["1"]
