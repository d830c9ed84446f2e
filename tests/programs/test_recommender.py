"""The recommender learns what is bought together, the same on one process, on several, and on Ray."""

from __future__ import annotations

import csv
import importlib.util
import json
import os
import subprocess
import sys

import pytest

from ranks import PROGRAMS, needs_joblib

pytestmark = needs_joblib


def run(*arguments, program="recommender.py", **changes):
    """Run the program and return what it said."""
    command = [sys.executable, str(PROGRAMS / program), *map(str, arguments)]
    return subprocess.run(command, env={**os.environ, **changes}, capture_output=True, text=True, check=False)


def artifact(folder):
    """What was written, as whoever serves reads it."""
    import joblib

    return joblib.load(folder / "recommender.joblib")


def write(path, baskets):
    """Write baskets as the shop does."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["basket", "book"])
        rows.writerows([at, book] for at, books in enumerate(baskets) for book in books)


def test_books_that_are_bought_together_are_near(tmp_path):
    """Cosine by hand: two of three baskets with a and b, c in one of them and alone in another."""
    write(tmp_path / "orders" / "a.csv", [["a", "b"], ["b", "a", "c", "a"]])
    write(tmp_path / "orders" / "b.csv", [["a"], ["c"]])
    done = run("--baskets", tmp_path / "orders", "--out", tmp_path / "out", "--judge-every", 10**9, "--parts", 3)
    assert done.returncode == 0, done.stderr
    made = artifact(tmp_path / "out")
    assert made["near"]["a"] == [("b", pytest.approx(2 / 6**0.5)), ("c", pytest.approx(1 / 6**0.5))]
    assert made["near"]["c"] == [("b", pytest.approx(1 / 2)), ("a", pytest.approx(1 / 6**0.5))]
    assert made["popular"][0] == "a"
    assert [path.name for path in sorted((tmp_path / "out").iterdir())] == ["metrics.json", "recommender.joblib"]


def test_several_processes_make_the_same_artifact(tmp_path):
    """However the work is divided, every book has the same neighbours, and they are worth something."""
    for name, workers, parts in (("one", 1, 1), ("two", 2, 5)):
        common = ("--made", 3000, "--books", 400, "--judge-every", 10)
        done = run("--out", tmp_path / name, "--workers", workers, "--parts", parts, *common)
        assert done.returncode == 0, done.stderr
    one, two = artifact(tmp_path / "one"), artifact(tmp_path / "two")
    assert one["near"] == two["near"]
    assert one["metrics"] == two["metrics"] == json.loads((tmp_path / "one" / "metrics.json").read_text())
    assert one["metrics"]["judged"] > 100
    assert one["metrics"]["hits"] > 0.4  # ten of 400 books by chance are 0.025


def test_a_folder_without_orders_is_an_error(tmp_path):
    """Nothing is written where nothing was learnt, and the old artifact stays."""
    (tmp_path / "orders").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "recommender.joblib").write_bytes(b"old")
    done = run("--baskets", tmp_path / "orders", "--out", tmp_path / "out")
    assert done.returncode == 1
    assert "has no CSV file" in done.stderr
    assert [path.read_bytes() for path in (tmp_path / "out").iterdir()] == [b"old"]


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="ray is not installed: pip install ray")
def test_ray_makes_the_same_artifact(tmp_path):
    """Tasks on a Ray cluster count what one process counts."""
    common = ("--made", 500, "--books", 100, "--judge-every", 10, "--parts", 3)
    assert run("--out", tmp_path / "one", *common).returncode == 0
    done = run("--out", tmp_path / "ray", *common, program="recommender_ray.py", RAY_USAGE_STATS_ENABLED="0")
    assert done.returncode == 0, done.stderr
    assert artifact(tmp_path / "one") == artifact(tmp_path / "ray")
