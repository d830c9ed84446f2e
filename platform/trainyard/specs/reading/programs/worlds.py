"""Where and when a program runs, made up: its clock, chance, folder, machine, environment and order of sets.

What jobs follow from must be the program alone, or another day, laptop or user would end runs. So nothing of the real
surroundings is seen, and a program is held against itself in others that are made up too.
"""

from __future__ import annotations

import datetime as dt
import os
import random
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from trainyard.specs.reading.programs.turned import stand_in_class

FACTORS = ("chance", "clock", "folder", "machine", "environment")
"""What surroundings are made of, but for the order of sets, which goes with the seed of a whole process."""

TURNS = {"chance": 5, "clock": 5, "folder": 1, "machine": 1, "environment": 1}
"""How often each is tried: one toss of a coin tells nothing, and neither does one other day."""

MOMENTS = (978_350_461, 1_783_953_902, 1_139_083_355, 1_920_021_128, 1_352_467_909, 2_106_550_246)
"""Seconds since 1970, no two alike in year, month, weekday, hour or second."""

ZONES = ("UTC0", "XXX-9:30", "YYY5", "ZZZ-13", "WWW8", "VVV-3:30")
"""Time zones as POSIX writes them, which need no files."""

TICK = 0.001
"""Seconds that a look at the clock takes, so that a loop until some time ends; else time passes in sleep alone."""

ANSWER = "7"
"""What every variable of a made-up environment says: numbers are read from text, and few defaults are seven."""

USED: dict[str, tuple[str, ...]] = {
    "random": ("chance",),
    "secrets": ("chance",),
    "uuid": ("chance", "clock", "machine"),
    "time": ("clock",),
    "datetime": ("clock",),
    "calendar": ("clock",),
    "zoneinfo": ("clock",),
    "platform": ("machine",),
    "socket": ("machine",),
    "getpass": ("machine", "environment"),
    "pathlib": ("folder", "machine", "environment"),
    "sys": ("folder", "machine"),
    "__file__": ("folder",),
}
"""What modules and names let a program see; a module that is not here nor among the pure ones lets it see all."""

PURE = frozenset(
    (
        *("__future__", "abc", "base64", "bisect", "cmath", "collections", "copy", "csv", "dataclasses", "decimal"),
        *("enum", "fractions", "functools", "hashlib", "heapq", "itertools", "json", "keyword", "math", "numbers"),
        *("operator", "re", "statistics", "string", "struct", "textwrap", "trainyard", "types", "typing"),
    )
)
"""Modules that give the same for the same."""


HIDDEN = (
    *("confstr", "pathconf", "fpathconf", "fstatvfs", "getgrouplist", "getpgid", "getsid", "getpriority", "nice"),
    *("sched_getparam", "sched_getscheduler", "sched_rr_get_interval"),
)
"""Functions of `os` that tell of the real machine, user or process, and are too rare to be made up."""

CONFIGURED = {
    "SC_NPROCESSORS_ONLN": 4,
    "SC_NPROCESSORS_CONF": 4,
    "SC_PHYS_PAGES": 2**21,
    "SC_AVPHYS_PAGES": 2**20,
    "SC_PAGE_SIZE": 4096,
    "SC_PAGESIZE": 4096,
}
"""What `os.sysconf` says of the first machine, in processors, pages and bytes."""


@dataclass(frozen=True, slots=True)
class World:
    """Surroundings of a program: which ones of each kind, the first being 0."""

    chance: int = 0
    clock: int = 0
    folder: int = 0
    machine: int = 0
    environment: int = 0
    turned: int = 0
    """Whether sets whose order is nobody's word come the other way round."""


FIRST = World()
TURNED = World(turned=1)
OTHER = World(1, 1, 1, 1, 1)


def near(seen: set[str]) -> Iterator[tuple[str, World]]:
    """Yield worlds that differ from the first in one thing alone, with its name: of what modules and names show."""
    shown = {factor for name in seen - PURE for factor in USED.get(name, FACTORS)}
    for factor in FACTORS:
        if factor in shown:
            for turn in range(1, TURNS[factor] + 1):
                yield factor, replace(FIRST, **{factor: turn})


def put(place: Any, **names: Any) -> None:
    """Put something else where a module or a class has its own."""
    for name, value in names.items():
        setattr(place, name, value)


def enter(world: World, file: str) -> str:
    """Make this process see a world alone, and return the path by which the program there knows itself."""
    _toss(world.chance)
    _wind(world.clock)
    _move_in(world.machine)
    environment: dict[str, str] = Everything(CI="true", HOME="/home/other", TERM="dumb") if world.environment else {}
    put(os, environ=environment)
    os.chdir(("/", str(Path(os.__file__).parent))[world.folder])
    path = ("", "/srv/elsewhere/")[world.folder] + file
    sys.argv = [path]
    sys.prefix = sys.exec_prefix = sys.base_prefix = sys.base_exec_prefix = ("/usr", "/srv/other")[world.folder]
    sys.executable = f"{sys.prefix}/bin/python"
    return path


class Everything(dict[str, str]):
    """An environment in which every variable has a value."""

    def __missing__(self, _key: str) -> str:
        return ANSWER

    def __contains__(self, _key: object) -> bool:
        return True

    def get(self, key: str, _default: object = None) -> str:
        """Return the variable's value, never a default."""
        return self[key]


def _toss(number: int) -> None:
    """Seed all that is random, by the world's number where a program gives no seed."""
    source = random.Random(number)  # noqa: S311 - the same on purpose
    drawn = source.randbytes
    seed = random.Random.seed

    def seeded(self: random.Random, a: Any = None, version: int = 2) -> None:
        seed(self, source.getrandbits(64) if a is None else a, version)

    random.seed(number)
    put(random.Random, seed=seeded)
    put(random, _urandom=drawn)  # what SystemRandom and secrets read
    put(os, urandom=drawn, getrandom=lambda size, _flags=0: drawn(size))


def _wind(number: int) -> None:
    """Set the clock and the time zone."""
    os.environ["TZ"] = ZONES[number]
    time.tzset()
    moment_now = float(MOMENTS[number])

    def now(*_: Any) -> float:
        nonlocal moment_now
        moment_now += TICK
        return moment_now

    def now_ns(*_: Any) -> int:
        return int(now() * 1e9)

    def sleep(seconds: float) -> None:
        nonlocal moment_now
        if seconds < 0:
            raise ValueError("sleep length must be non-negative")
        moment_now += seconds

    for name in ("time", "monotonic", "perf_counter", "process_time", "thread_time", "clock_gettime"):
        put(time, **{name: now, f"{name}_ns": now_ns})
    for name in ("localtime", "gmtime", "ctime"):
        put(time, **{name: _defaulting(getattr(time, name), now)})
    put(time, sleep=sleep)
    put(os, times=lambda: os.times_result((0.0, 0.0, 0.0, 0.0, now())))
    asctime, strftime = time.asctime, time.strftime
    put(time, asctime=lambda *t: asctime(*(t or (time.localtime(),))))
    put(time, strftime=lambda form, *t: strftime(form, *(t or (time.localtime(),))))
    date, moment = dt.date, dt.datetime
    today = classmethod(lambda cls: cls.fromtimestamp(now()))
    at = classmethod(lambda cls, tz=None: cls.fromtimestamp(now(), tz))
    utc = classmethod(lambda cls: cls.fromtimestamp(now(), dt.UTC).replace(tzinfo=None))
    put(dt, date=stand_in_class(date, today=today), datetime=stand_in_class(moment, today=today, now=at, utcnow=utc))


def _defaulting(function: Callable[..., Any], now: Callable[[], float]) -> Callable[..., Any]:
    return lambda seconds=None: function(now() if seconds is None else seconds)


def refuse_call(name: str) -> Callable[..., Any]:
    """Return the stand-in for a function of `os` that reveals the real machine, user or process."""

    def refuse(*_: Any) -> Any:
        raise PermissionError(f"os.{name}")

    return refuse


def made_up_limit(name: str | int, number: int) -> int:
    """Return the processors and memory of a made-up machine; other values would be the real machine's."""
    if name not in CONFIGURED:
        raise PermissionError(f"os.sysconf of {name!r}")
    return CONFIGURED[str(name)] * (1 + 2 * number)


def _move_in(number: int) -> None:
    """Take the names and numbers of a made-up machine, user and process."""
    import platform
    import pwd

    host, user, system = (("here", "one", "Linux"), ("elsewhere", "another", "FreeBSD"))[number]
    sizes = ("6.1.0", "#1", "x86_64") if number == 0 else ("14.2", "#7", "arm64")
    uname = os.uname_result((system, host, *sizes))
    numbers = {"getpid": 100, "getppid": 10, "getuid": 1000, "geteuid": 1000, "getgid": 1000, "getegid": 1000}
    numbers |= {"cpu_count": 4, "process_cpu_count": 4, "getpgrp": 100}
    put(os, **{name: lambda value=value * (1 + 2 * number): value for name, value in numbers.items()})
    put(os, uname=lambda: uname, getlogin=lambda: user, getloadavg=lambda: (number + 0.5,) * 3)
    put(os, **{name: refuse_call(name) for name in HIDDEN if hasattr(os, name)})
    ids = (1000 * (1 + 2 * number),) * 3
    put(os, getgroups=lambda: [ids[0]], getresuid=lambda: ids, getresgid=lambda: ids)
    put(os, umask=lambda _mask: (0o022, 0o077)[number], sysconf=lambda name: made_up_limit(name, number))
    put(os, sched_getaffinity=lambda _pid: set(range(4 + 8 * number)))
    put(pwd, getpwuid=lambda uid: pwd.struct_passwd((user, "x", uid, uid, "", f"/home/{user}", "/bin/sh")))
    put(platform, _uname_cache=None)  # what was asked of the real one
    if uuid := sys.modules.get("uuid"):
        put(uuid, _node=number + 1, _generate_time_safe=None)
    major, minor, micro, *_ = sys.version_info
    sys.version = f"{major}.{minor}.{micro + number} (main) [{system}]"
    sys.hexversion += number << 8
