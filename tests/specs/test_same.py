"""Programs that make other jobs on another day, machine or process are refused, and only those."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

import make
from trainyard.base.findings import Finding
from trainyard.judge.preflight import check_repository

HEAD = "from trainyard.specs import Job\nfrom itertools import *\n"
JOB = (
    f"cluster='test', launcher='torchrun', image='{make.IMAGE}', program='a.py', pool='gpu', queue='research', "
    "gpus_per_node=8"
)


def yields(args: str, *before: str, name: str = "'sweep-a'") -> str:
    """Return a program that yields one job with arguments."""
    return HEAD + "\n".join(before) + f"\n\ndef jobs():\n    yield {name}, Job({JOB}, args=list(map(str, {args})))\n"


DIFFERENT = {
    "a number by chance": (yields("('--seed', random.randint(0, 1))", "import random"), "args[1]", "by chance"),
    "one of two by chance": (yields("(random.choice('ab'),)", "import random"), "args[0]", "by chance"),
    "a generator without a seed": (yields("(random.Random().random(),)", "import random"), "args[0]", "by chance"),
    "the system's chance": (yields("(secrets.token_hex(4),)", "import secrets"), "args[0]", "by chance"),
    "bytes of the system": (yields("(os.urandom(2).hex(),)", "import os"), "args[0]", "by chance"),
    "an id by chance": (yields("(uuid.uuid4(),)", "import uuid"), "args[0]", "by chance"),
    "an id by the clock": (yields("(uuid.uuid1(),)", "import uuid"), "args[0]", "by c"),
    "seconds": (yields("(int(time.time()),)", "import time"), "args[0]", "by the clock"),
    "seconds since the start": (yields("(time.monotonic() // 100,)", "import time"), "args[0]", "by the clock"),
    "the year": (yields("(datetime.now().year,)", "from datetime import datetime"), "args[0]", "by the clock"),
    "the day of the week": (yields("(date.today().weekday() < 5,)", "from datetime import date"), "args[0]", "clock"),
    "morning or afternoon": (yields("(time.localtime().tm_hour < 12,)", "import time"), "args[0]", "clock"),
    "a date as text": (yields("(time.strftime('%Y%m%d'),)", "import time"), "args[0]", "clock"),
    "the time zone": (yields("(time.timezone,)", "import time"), "args[0]", "clock"),
    "the host": (yields("(platform.node(),)", "import platform"), "args[0]", "by machine or user"),
    "the release of Python": (yields("(sys.version,)", "import sys"), "args[0]", "by machine or user"),
    "CPUs": (yields("(os.cpu_count(),)", "import os"), "args[0]", "by machine or user"),
    "the process": (yields("(os.getpid(),)", "import os"), "args[0]", "by machine or user"),
    "the user": (yields("(getpass.getuser(),)", "import getpass"), "args[0]", "by machine or user"),
    "the folder": (yields("(os.getcwd(),)", "import os"), "args[0]", "by its folder"),
    "its own path": (yields("(__file__,)"), "args[0]", "by its folder"),
    "a variable": (yields("(os.environ.get('USER', 'nobody'),)", "import os"), "args[0]", "by the environment"),
    "whether there is a variable": (yields("('CI' in os.environ,)", "import os"), "args[0]", "by the environment"),
    "a module by its name": (yields("(__import__('random').random(),)"), "args[0]", "by chance"),
    "two words of a set": (yields("tuple({'a', 'b'})"), "args[0]", "by the order of a set or a hash"),
    "a set's text": (yields("(str(frozenset(['a', 'b'])),)"), "args[0]", "by the order of a set or a hash"),
    "what is common": (yields("tuple(set('abc') & set('bcd'))"), "args[0]", "by the order of a set or a hash"),
    "any of a set": (yields("(set('ab').pop(),)"), "args[0]", "by the order of a set or a hash"),
    "a set as it is": (
        yields("('a',)").replace("list(map(str, ('a',)))", "{'a', 'b'}"),
        "args[0]",
        "by the order of a set or a hash",
    ),
    "a hash": (yields("(hash('a') % 2,)"), "args[0]", "by the order of a set or a hash"),
    "a text of an object": (yields("(repr(object()),)"), "args[0]", "by the order of a set or a hash"),
    "how many": (yields("('x',) * (1 + time.localtime().tm_wday)", "import time"), "args", "by the clock"),
    "whether a field is there": (
        HEAD + f"import random\n\ndef jobs():\n    more = {{'nodes': 2}} if random.random() < 0.5 else {{}}\n"
        f"    yield 'sweep-a', Job({JOB}, **more)\n",
        "nodes",
        "by chance",
    ),
    "a value that is a fault by day": (
        yields("(1 / (date.today().weekday() < 5),)", "from datetime import date"),
        None,
        "by the clock; write the time down: program stopped with ZeroDivisionError",
    ),
}

NAMES = {
    "names by chance": yields("()", "import random", name="f'sweep-{random.randint(1, 9999)}'"),
    "jobs by the day": HEAD
    + f"import time\n\ndef jobs():\n    yield 'sweep-a', Job({JOB})\n    if time.localtime().tm_wday < 5:\n"
    f"        yield 'sweep-b', Job({JOB})\n",
}

SAME = {
    "seeds": yields("(random.Random(7).randint(0, 99),)", "import random"),
    "a seed for all": yields("(random.random(),)", "import random", "random.seed(3)"),
    "a name for an id": yields("(uuid.uuid5(uuid.NAMESPACE_DNS, 'a'),)", "import uuid"),
    "a date that is written down": yields("(date(2026, 1, 2).isoformat(),)", "from datetime import date"),
    "days between dates": yields("((datetime(2026, 1, 2) - datetime(2026, 1, 1)).days,)", "from datetime import *"),
    "an instance of a date": yields("(isinstance(datetime(2026, 1, 1), date),)", "from datetime import *"),
    "a program's own name": yields("(Path(__file__).stem, Path(__file__).parent.name)", "from pathlib import Path"),
    "a path's words": yields(
        "(str(PurePosixPath('/data') / 'a'), os.path.join('a', 'b'))", "from pathlib import *", "import os"
    ),
    "a set that is sorted": yields("sorted({'b', 'a'})"),
    "whether a set has it": yields("('a' in {'a', 'b'}, len({'a', 'b'}), isinstance({'a'}, set))"),
    "a set of numbers": yields("tuple({1, 2, 40}) + tuple({(1, 2.5), (3, 4)})"),
    "a set of one": yields("(str({'a'}), *{'a'}, repr(frozenset()))"),
    "a largest of a set": yields("(max({'a', 'b'}), sum({1, 2}), min(x for x in {'c', 'd'}))"),
    "sets of sets": yields("sorted(map(sorted, {frozenset('ab'), frozenset('c')}))"),
    "jobs in the order of a set": HEAD
    + f"\ndef jobs():\n    for name in {{'sweep-a', 'sweep-b'}}:\n        yield name, Job({JOB})\n",
    "a map as it was written": yields("[f'{a}={b}' for a, b in {'z': 1, 'a': 2}.items()]"),
    "names of things": yields(
        "(Kind.BIG.value, *Point(1, 2).__dict__)",
        "from enum import Enum",
        "from dataclasses import dataclass",
        "class Kind(Enum):\n    BIG = 1",
        "@dataclass\nclass Point:\n    x: int\n    y: int",
    ),
    "a text's digest": yields("(hashlib.sha256(b'a').hexdigest(),)", "import hashlib"),
    "a clock that nothing follows from": yields("('a',)", "import time", "began = time.time()"),
    "which Python": yields("(sys.version_info >= (3, 8),)", "import sys"),
    "a regular expression": yields("(re.sub('a+', 'b', 'caat'), json.dumps({'a': [1]}))", "import re", "import json"),
}

PROGRAMS = {name: text for name, (text, *_) in DIFFERENT.items()} | NAMES | SAME


@pytest.fixture(scope="module")
def found(tmp_path_factory) -> dict[str, list[Finding]]:
    """Findings of every program above; all run in one pass, each in processes of its own."""
    root = tmp_path_factory.mktemp("programs")
    make.write_repository(root, teams={"nlp": {**make.TEAM, "python": True}})
    for number, text in enumerate(PROGRAMS.values()):
        (root / f"jobs/nlp/sweep{number}.py").write_text(text.replace("sweep-", f"sweep{number}-"), encoding="utf-8")
    findings = check_repository(root).findings
    return {name: list(of(findings, f"jobs/nlp/sweep{number}.py")) for number, name in enumerate(PROGRAMS)}


def of(findings: Iterable[Finding], file: str) -> Iterable[Finding]:
    """Yield the errors at a file."""
    return (finding for finding in findings if finding.location.file == file and finding.is_error)


@pytest.mark.parametrize("case", DIFFERENT)
def test_a_program_that_follows_its_surroundings_is_refused(case, found):
    """The field, the line and what it follows are told, and nothing else."""
    _, field, follows = DIFFERENT[case]
    (finding,) = found[case]
    assert (finding.rule, finding.path) == ("spec/python-same", field)
    assert follows in finding.message
    line = PROGRAMS[case].splitlines()[(finding.location.line or 1) - 1]
    assert "yield" in line


@pytest.mark.parametrize("case", NAMES)
def test_other_jobs_are_refused(case, found):
    """A job that is there only on some days would end on others."""
    (finding,) = found[case]
    assert finding.rule == "spec/python-same"
    assert "only sometimes, by" in finding.message


@pytest.mark.parametrize("case", SAME)
def test_a_program_that_follows_nothing_is_taken(case, found):
    """Whatever it looks at without making jobs of it, and whatever is the same everywhere, is fine."""
    assert found[case] == []
