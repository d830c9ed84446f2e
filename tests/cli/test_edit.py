from __future__ import annotations

from pathlib import Path

import pytest

import trainyard.faces.cli.rerun as rerun
import trainyard.faces.cli.retire as retire
from make import JOB, write_repository
from trainyard.base.errors import SpecError
from trainyard.render.tree import layout, ledger
from trainyard.specs.editing.fields import set_fields

EDITS = {
    "a new field comes last": ("a: 1\n", {"retired": True}, "a: 1\nretired: true\n"),
    "a file without a last line feed": ("a: 1", {"run": 2}, "a: 1\nrun: 2\n"),
    "a field is changed where it stands": ("run: 2\na: 1\n", {"run": 3}, "run: 3\na: 1\n"),
    "its comment stays": ("run: 2   # again\na: 1\n", {"run": 3}, "run: 3   # again\na: 1\n"),
    "other comments stay": (
        "# head\na: 1 # one\n\n# tail\n",
        {"retired": True},
        "# head\na: 1 # one\n\n# tail\nretired: true\n",
    ),
    "a field of the same name below is another's": ("a:\n  run: 1\n", {"run": 2}, "a:\n  run: 1\nrun: 2\n"),
    "a field is taken away with its line": ("a: 1\nretired: true # done\nb: 2\n", {"retired": None}, "a: 1\nb: 2\n"),
    "a field that is not there is not taken away": ("a: 1\n", {"retired": None}, "a: 1\n"),
    "nothing to do": ("retired: yes\n", {"retired": True}, "retired: yes\n"),
    "line ends of Windows stay": (
        "a: 1\r\nrun: 2\r\n",
        {"run": 3, "retired": True},
        "a: 1\r\nrun: 3\r\nretired: true\r\n",
    ),
    "a block of text at the end": ("a: |+\n  x\n\n", {"run": 2}, "a: |+\n  x\n\nrun: 2\n"),
    "a quoted key": ('"run": 2\n', {"run": 3}, '"run": 3\n'),
}


@pytest.mark.parametrize(("before", "changes", "after"), EDITS.values(), ids=EDITS)
def test_one_field_changes_and_the_text_stays(before, changes, after) -> None:
    """Whatever a person wrote around the field is left as it is."""
    assert set_fields(before, "job.yaml", changes) == after


REFUSED = {
    "one line": "{a: 1, run: 2}\n",
    "a document end": "a: 1\n...\n",
    "a value on the next line": "run:\n  2\na: 1\n",
}


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED)
def test_what_only_a_person_can_edit_is_refused(text: str) -> None:
    """Better a word than a file that says something else."""
    with pytest.raises(SpecError, match="cannot be edited automatically; write run: 3"):
        set_fields(text, "job.yaml", {"run": 3})


@pytest.mark.parametrize("text", ["", "- 1\n", "a: [\n", "a: 1\n---\nb: 2\n", "a: 1\na: 2\n"])
def test_what_is_no_job_is_refused(text: str) -> None:
    """A broken file stays as it is."""
    with pytest.raises(SpecError, match="cannot be edited"):
        set_fields(text, "job.yaml", {"run": 3})


def test_a_job_is_retired_and_run_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`retire` stops a job, `rerun` gives it a number that no run of it had, and takes the retirement back."""
    root = write_repository(tmp_path)
    assert retire.command("nlp/train", root) == 0
    path = root / "jobs/nlp/train.yaml"
    assert path.read_text().endswith("retired: true\n")
    assert retire.command("jobs/nlp/train.yaml", root) == 0
    assert "already" in capsys.readouterr().out
    entries = [ledger.Entry(f"train-{number}", str(number), "sha256:0", "1", "replaced") for number in range(4)]
    for cluster in ("one", "two"):
        place = root / "generated" / cluster / layout.ledger_file("nlp", "train")
        place.parent.mkdir(parents=True)
        place.write_text(ledger.dump(entries))
    assert rerun.command("nlp/train", root) == 0
    assert path.read_text().endswith("run: 9\n")
    assert "retired" not in path.read_text()


NAMES = {
    "a near miss": ("nlp/trian", "did you mean 'nlp/train'"),
    "no team": ("train", "must be <team>/<job>"),
    "a path upwards": ("../nlp/train", "must be <team>/<job>"),
    "a hidden file": ("nlp/.train", "must be <team>/<job>"),
    "a program": ("nlp/sweep", "is a program; set retired=True in jobs/nlp/sweep.py"),
    "a program by its file": ("jobs/nlp/sweep.py", "is a program"),
    "a job that a program makes": ("nlp/sweep-low", "belongs to a program; set retired=True in jobs/nlp/sweep.py"),
    "a small file of a job": ("nlp/train/config", "must be <team>/<job>"),
}


@pytest.mark.parametrize(("name", "message"), NAMES.values(), ids=NAMES)
def test_a_job_that_cannot_be_edited_is_named(tmp_path: Path, name: str, message: str) -> None:
    """The sentence says what to write instead."""
    root = write_repository(tmp_path, jobs={"nlp/train": JOB})
    (root / "jobs/nlp/sweep.py").write_text("")
    with pytest.raises(SpecError, match=message):
        retire.command(name, root)
