"""Programs that make jobs, written to last: each ends in time, and programs of other teams have their jobs."""

import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from tests import make
from tests.specs.test_isolation import OPENED

from trainyard.specs.reading.programs.turns import fair

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="programs are isolated on Linux alone")

BOUNDED = Path(__file__).parent / "bounded.py"

HONEST = f"""
from trainyard.specs import Job
def jobs():
    yield "fair", Job.model_validate({make.JOB!r})
"""

LASTING = f"""{OPENED}
import select, signal
def rest():
    while True:
        select.select([], [], [], 1000)
def write(text):
    return next((n for n in range(3, 4096) if libc.write(n, text, len(text)) > 0), None)
def jobs():
    DO
    yield
"""
"""Waits by a call that the kernel allows; `time.sleep` passes no time in a program."""

LATE = "program runs longer than 2 seconds; make fewer jobs or a shorter loop"
NONE = "program ended without an answer; let jobs() return"

LASTS = {
    "it closes its answer and sleeps": ("os.closerange(0, 100); rest()", LATE),
    "it sleeps": ("rest()", LATE),
    "it answers, closes and sleeps": ("write(b'{}'); os.closerange(0, 100); rest()", LATE),
    "it writes one byte and stops": ("write(b'{'); rest()", LATE),
    "it writes byte by byte": ("while True: write(b' '); select.select([], [], [], 0.01)", LATE),
    "it writes more than is taken and goes on": ("while True: write(b' ' * 2 ** 20)", "more than 16 MiB"),
    "it writes what is taken, and sleeps": ("write(b' ' * 2 ** 24); rest()", LATE),
    "it ignores signals": ("[libc.signal(n, 1) for n in range(1, 65)]; rest()", LATE),
    "it stops itself": ("libc.raise_(19) if hasattr(libc, 'raise_') else libc.syscall(62, 1, 19); rest()", LATE),
    "it counts in C": ("sum(range(10 ** 13))", LATE),
    "it forks": ("libc.fork(); libc.vfork(); os.closerange(0, 100); rest()", LATE),
    "it kills itself": ("libc.abort()", NONE),
    "it follows a null pointer": ("ctypes.string_at(0)", NONE),
}


def answers(programs, *, seconds=2, total=600, asked="first", how="isolated", cpu=10):
    """Return what is answered to programs, by their files, and how many seconds that takes."""
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-P", str(BOUNDED), str(seconds), str(total), asked, how, str(cpu)],
        input=json.dumps([{"file": file, "text": text} for file, text in programs.items()]).encode(),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    said = dict(json.loads(line) for line in done.stdout.splitlines())
    return {file: said[number] for number, file in enumerate(programs)}, time.monotonic() - began


@pytest.mark.parametrize("case", LASTS)
def test_a_program_ends_in_time(case):
    """Whatever a program does to last, it is ended and told, and another team's program has its job."""
    text, message = LASTS[case]
    found, seconds = answers({"jobs/nlp/x.py": LASTING.replace("DO", text), "jobs/ads/fair.py": HONEST})
    assert message in found["jobs/nlp/x.py"]["problems"][0]["message"]
    assert [job["name"] for job in found["jobs/ads/fair.py"]["jobs"]] == ["fair"]
    assert seconds < 15


def test_a_program_that_computes_without_an_end_is_stopped():
    """It costs the seconds of processor that a program has, in the sandbox's own words, and no other program."""
    endless = "def jobs():\n    while True: pass\n"
    found, _ = answers({"jobs/nlp/x.py": endless, "jobs/ads/fair.py": HONEST}, seconds=20, cpu=1)
    told = found["jobs/nlp/x.py"]["problems"][0]["message"]
    assert told == "program uses more than 1 seconds of CPU; make fewer jobs or a shorter loop"
    assert found["jobs/ads/fair.py"]["jobs"]


def test_a_program_that_lasts_in_another_world_is_told():
    """A program that is done at once where its answer counts, and sleeps on another day, is told as such a one."""
    text = LASTING.replace("DO", "time.gmtime().tm_year > 2020 and rest()").replace(
        "yield", HONEST.split("\n")[-2].strip()
    )
    text = text.replace("def jobs", "from trainyard.specs import Job\ndef jobs")
    found, _ = answers({"jobs/nlp/x.py": text, "jobs/ads/fair.py": HONEST})
    assert "fails elsewhere" in found["jobs/nlp/x.py"]["differs"]["message"]
    other, _ = answers({"jobs/nlp/x.py": text, "jobs/ads/fair.py": HONEST}, asked="other")
    assert LATE in other["jobs/nlp/x.py"]["other"]["problems"][0]["message"]
    assert other["jobs/ads/fair.py"]["other"]["jobs"]


def test_the_last_program_of_one_team_waits_for_no_second_of_another():
    """When the time of all together is over, programs of the team that took it are told as not run, no other's."""
    slow = {f"jobs/nlp/a{number}.py": LASTING.replace("DO", "rest()") for number in range(6)}
    honest = {f"jobs/vision/fair{number}.py": HONEST for number in range(6)}
    found, seconds = answers({**slow, **honest}, seconds=1, total=2)
    assert all(found[file].get("jobs") for file in honest)
    told = [found[file]["problems"][0]["message"] for file in slow]
    unrun = [item for item in told if item.startswith("program was not run: all programs together took 2")]
    assert told[0].startswith("program runs longer than 1")
    assert len(unrun) >= 3
    assert seconds < 10


@pytest.mark.parametrize("how", ["isolated", "unsafe"])
def test_whoever_asks_takes_all_processes_along(how):
    """When the asking process is killed while a program sleeps, none of the processes that it started is left."""
    marker = f"jobs/nlp/marker{os.getpid()}.py"
    asking = (
        "import sys; from trainyard.specs.reading import python_jobs as p; "
        f"p.ran((({marker!r}, sys.stdin.buffer.read()),), unsafe={how == 'unsafe'})"
    )
    with subprocess.Popen([sys.executable, "-P", "-c", asking], stdin=subprocess.PIPE) as asker:
        asker.stdin.write(LASTING.replace("DO", "rest()").encode())
        asker.stdin.close()
        wait_for(lambda: len(children(asker.pid)) >= (6 if how == "isolated" else 4))
        started = children(asker.pid)
        asker.kill()
    wait_for(lambda: not any(map(is_alive, started)))


def wait_for(condition):
    """Wait until something holds, ten seconds at most."""
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def children(process):
    """Return the processes that one has started, and theirs."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if int(path.read_text().rpartition(")")[2].split()[1]) == process:
                child = int(path.parent.name)
                found += [child, *children(child)]
    return found


def is_alive(process):
    """Say whether a process runs still."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_the_team_that_took_least_is_next():
    """Of the next programs of all teams it is always the one whose team has taken least time."""
    files = ["jobs/a/1.py", "jobs/a/2.py", "jobs/b/1.py", "jobs/b/2.py", "jobs/b/3.py"]
    order = []

    def clock():
        return sum(20.0 if file.startswith("jobs/a") else 1.0 for file in order)

    order.extend(files[number] for number in fair(files, clock))
    assert order == ["jobs/a/1.py", "jobs/b/1.py", "jobs/b/2.py", "jobs/b/3.py", "jobs/a/2.py"]


CLOCKS = {
    "the C library's clock": "ctypes.CDLL(None).clock_gettime(0, b) == 0 and ascii(b.raw[:4])",
    "a coarse clock": "ctypes.CDLL(None).clock_gettime(5, b) == 0 and any(b.raw[:8])",
    "the clock since the start": "ctypes.CDLL(None).clock_gettime(1, b) == 0 and any(b.raw[:8])",
    "the time of day": "ctypes.CDLL(None).gettimeofday(b, None) == 0 and any(b.raw[:8])",
    "the C library's seconds": "ctypes.CDLL(None).time(None) > 10 ** 6",
    "the kernel's clock": "ctypes.CDLL(None).syscall(228, 0, b) == 0",
    "the kernel's seconds": "ctypes.CDLL(None).syscall(201, None) > 10 ** 6",
    "ticks since the start": "ctypes.CDLL(None).times(b) > 0",
    "how long the system runs": "ctypes.CDLL(None).sysinfo(b) == 0",
    "datetime as it was": "dt.datetime.__mro__[1].now().year > 1970 and dt.datetime.__mro__[1].now().year != 2001",
    "the answer's own file": "any(os.fstat(n).st_mtime for n in range(3, 64) if is_open(n))",
    "the answer's file, by the C library": "any(raw_fstat(n) for n in range(3, 64))",
    "when a module was read": "os.stat(os.__file__).st_atime > 0",
    "an absolute sleep": "ctypes.CDLL(None).clock_nanosleep(0, 1, b, None) == 0",
}
"""What would tell the day, each an expression that is true where it does."""

PYTHONS = ("the answer's own file", "when a module was read")
"""Of these, what Python alone keeps from a program."""

READING = f"""{OPENED}
import datetime as dt
b = ctypes.create_string_buffer(512)
def is_open(n):
    try:
        return bool(os.fstat(n))
    except OSError:
        return False
def raw_fstat(n):
    s = ctypes.create_string_buffer(256)
    return libc.fstat(n, s) == 0 and any(s.raw[72:120])
from trainyard.specs import Job
def jobs():
    try:
        got = str(EXPRESSION)
    except Exception as error:
        got = "False"
    yield "x", Job.model_validate({ {**make.JOB, "args": ["ARGS"]}!r})
""".replace("'ARGS'", "got")
"""fstat's structure has its times at 72 on x86_64."""


@pytest.mark.parametrize("how", ["isolated", "unsafe"])
@pytest.mark.parametrize("case", CLOCKS)
def test_no_clock_is_read(case, how):
    """No call tells a program the real time, by ctypes neither; where nothing isolates it, each such try does."""
    text = READING.replace("EXPRESSION", CLOCKS[case])
    found = answers({"jobs/nlp/x.py": text}, asked="other", how=how)[0]["jobs/nlp/x.py"]["hashed"]
    got = found["jobs"][0]["job"]["args"]
    assert (got == ["False"]) == (how == "isolated" or case in PYTHONS), found


def test_a_wait_until_a_time_tells_nothing():
    """A wait until a time of a clock ends at once, also where that time is far away, and a lock's says it is over."""
    waits = "libc.syscall(202, b, 0x189, 0, b'\\xff' * 7 + b'\\0' * 9, 0, -1) < 0 and ctypes.get_errno() == 110"
    lock = "__import__('threading').Event().wait(10 ** 6) is False"
    for expression in (waits, lock):
        text = READING.replace("EXPRESSION", expression)
        found, seconds = answers({"jobs/nlp/x.py": text}, asked="other")
        assert found["jobs/nlp/x.py"]["hashed"]["jobs"][0]["job"]["args"] == ["True"]
        assert seconds < 15
