"""What all tests share: golden files, and loud reasons for what could not run."""

from __future__ import annotations

import difflib
import gc
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import example_counts
from repo import Repo
from trainyard.base.system.unforeseen import TRACEBACK

LONG = ("slow", "cluster", "argocd")
"""Marks of what `make test-unit` leaves out."""

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--update` rewrites golden files; read the diff before you commit it."""
    parser.addoption("--update", action="store_true", help="rewrite golden files")
    parser.addoption("--fuzz", type=int, default=3000, help="how many damaged files test_fuzz.py judges")


def pytest_configure(config: pytest.Config) -> None:
    """Keep the caches of a session in a folder of its own, which its processes share and nobody else sees.

    Those of pip and Go stay the user's: what they download and compile is nothing that is tested here.
    Where slow tests are left out, tests by chance try less. What tests start hears Ctrl-C, also where who started the
    tests in the background does not.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in ("CI", "TRAINYARD_BASE", "TRAINYARD_TRUST_CHECKOUT"):  # tests are a person's who works here
        os.environ.pop(name, None)
    os.environ[TRACEBACK] = "1"  # what nobody foresaw fails a test
    if "not slow" in config.option.markexpr:
        os.environ[example_counts.QUICK] = "1"
    settings.register_profile(
        "any-machine",
        max_examples=example_counts.tries(100),
        suppress_health_check=[HealthCheck.too_slow],
        deadline=None,
    )
    settings.load_profile("any-machine")
    if "PYTEST_XDIST_WORKER" not in os.environ:
        own = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        os.environ.setdefault("GOCACHE", str(own / "go-build"))
        os.environ.setdefault("PIP_CACHE_DIR", str(own / "pip"))
        folder = tempfile.mkdtemp(prefix="trainyard-tests-")
        os.environ["XDG_CACHE_HOME"] = folder
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that have slow tests: one that begins last keeps a single process busy while others wait.

    The longest of all is that of the pages, with a minute and more.
    """
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: (item.path.name != "test_docs.py", item.path not in slow))


def pytest_collection_finish() -> None:
    """Spare the thousands of tests that were just collected from every later search for garbage."""
    gc.collect()
    gc.freeze()


def pytest_sessionfinish() -> None:
    """Spare what the tests leave behind, too: a process that ends searches all of it five times."""
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a test that takes long and does not say so: the time of processors counts, fixtures do not."""
    before = os.times()
    result = yield
    spent = sum(os.times()[:4]) - sum(before[:4])
    limit = example_counts.LIMIT_SECONDS if example_counts.is_quick() else 2 * example_counts.LIMIT_SECONDS
    watched = sys.gettrace() or sys.getprofile()
    if spent > limit and not watched and not any(map(item.get_closest_marker, LONG)):
        pytest.fail(f"took {spent:.1f} s of CPU time, at most {limit} are for unit tests; quicken it or mark it slow")
    return result


@pytest.fixture
def repo(first: Repo, tmp_path: Path) -> Repo:
    """Return a copy of the repository that the fixture `first` of a module makes once for all of its tests."""
    return first.copied(tmp_path / "repo")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compare text with a reviewed file below tests/: `golden("specs/tab.txt", report)`."""

    def compare(name: str, text: str) -> None:
        path = TESTS / name
        if request.config.getoption("--update"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
            return
        if not path.exists():
            pytest.fail(f"golden file {name} does not exist; run `make update` and read it")
        expected = path.read_text(encoding="utf-8")
        if expected != text:
            diff = difflib.unified_diff(expected.splitlines(), text.splitlines(), name, "now", lineterm="")
            pytest.fail("differs from the golden file (rewrite with --update):\n" + "\n".join(diff))

    return compare


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository's root."""
    return ROOT


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name every check that was skipped and why, so that a green run never hides one."""
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = sorted({str(report.longrepr[2]) for report in skipped if isinstance(report.longrepr, tuple)})
    for reason in reasons:
        terminalreporter.write_line(f"not checked here: {reason.removeprefix('Skipped: ')}", yellow=True)
