"""Small files of a job can be read as what their endings say, or a warning names the line."""

from __future__ import annotations

import pytest

from make import make_job_file, make_specs
from trainyard.judge.preflight.job.file_syntax import check
from trainyard.judge.preflight.subjects import OneJob


def found(name: str, text: str) -> list[str]:
    """Return what is said of a job with one small file."""
    file = make_job_file(files=[{"source": name, "mountPath": "/etc/job"}], contents={name: text})
    return [f"{item.path}: {item.message}" for item in check(OneJob(make_specs(file), file, None))]


WRONG = {
    "a comma at the end": ("ds.json", '{\n "stage": 3,\n}\n', "is no JSON: line 3"),
    "a quote that is open": ("a.yaml", 'rate: 1\nname: "bert\n', "is no YAML: line "),
    "a word without quotes": ("a.toml", "rate = 1\nname = bert\n", "is no TOML: line 2"),
}


@pytest.mark.parametrize(("name", "text", "said"), WRONG.values(), ids=WRONG)
def test_a_file_that_cannot_be_read_is_told_where_it_is_named(name, text, said):
    """With the line of its first error."""
    (message,) = found(name, text)
    assert message.startswith(f"files[0].source: file {name!r} {said}")


RIGHT = {
    "JSON": ("ds.json", '{"stage": 3}'),
    "YAML of several documents": ("a.yaml", "rate: 1\n---\nrate: 2\n"),
    "TOML": ("a.toml", "rate = 1\n"),
    "JSON with comments, which some programs read": ("a.json", '{\n // the stage\n "stage": 3,\n}\n'),
    "a template": ("a.yaml", "rate: {{ rate }}\nname: {{ name }}: x\n"),
    "a template of a shell": ("a.json", '{"stage": ${STAGE}}'),
    "another ending": ("run.sh", "if [ 1 ]; then echo '{'; fi\n"),
}


@pytest.mark.parametrize(("name", "text"), RIGHT.values(), ids=RIGHT)
def test_a_file_that_can_be_read_is_left_alone(name, text):
    """So is one that something else fills before it is read."""
    assert found(name, text) == []
