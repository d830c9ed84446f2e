"""`validate --format jsonl` over streams: any length, one line a finding, and what holds for other objects."""

from __future__ import annotations

import io
import json
import sys
import tracemalloc
from itertools import islice
from pathlib import Path

import pytest

from trainyard.base.system.data import schemas_dir
from trainyard.faces.cli import main
from trainyard.judge.checks.streams import Stream
from trainyard.judge.checks.validate import judge_of
from trainyard.upstream.apiserver import Rulebook
from trainyard.upstream.apiserver.gates import Gates

POD = '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p%d"}, "spec": {"containers": [%s]}}\n'
GOOD, BAD = '{"name": "a", "image": "b"}', '{"name": "a", "imagee": "b"}'
DEFINITION = json.dumps({
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.example.com"},
    "spec": {
        "group": "example.com", "scope": "Namespaced",
        "names": {"kind": "Widget", "plural": "widgets", "singular": "widget", "listKind": "WidgetList"},
        "versions": [{
            "name": "v1", "served": True, "storage": True,
            "schema": {"openAPIV3Schema": {
                "type": "object", "properties": {"spec": {"type": "object", "properties": {"n": {"type": "integer"}}}},
            }},
        }],
    },
})  # fmt: skip
WIDGET = '{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"n": "x"}}'
NAMESPACE = (
    '{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "s", "labels": '
    '{"pod-security.kubernetes.io/enforce": "restricted"}}}'
)
RESTRICTED = POD.replace('"p%d"', '"p%d", "namespace": "s"') % (0, GOOD)
POLICY = json.dumps({
    "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy", "metadata": {"name": "no"},
    "spec": {
        "matchConstraints": {"resourceRules": [
            {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
        ]},
        "validations": [{"expression": "object.metadata.name != 'p3'", "message": "not this one"}],
    },
})  # fmt: skip
BINDING = json.dumps({
    "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding",
    "metadata": {"name": "no"}, "spec": {"policyName": "no", "validationActions": ["Deny"]},
})  # fmt: skip


class Pipe(io.BytesIO):
    """Standard input, of which little is there at a time."""

    def read1(self, size=-1):
        """Return the next bytes."""
        return self.read(min(size, 5_000))


@pytest.fixture
def judge(monkeypatch, capsys, tmp_path):
    """Run `validate` on a stream; returns exit code, findings, and the last line."""
    monkeypatch.chdir(tmp_path)

    def run(text, *arguments, format_="jsonl"):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(Pipe(text.encode())))
        with pytest.raises(SystemExit) as stopped:
            main(["validate", *arguments, "-", "-o", format_])
        said = capsys.readouterr()
        if format_ == "json":
            report = json.loads(said.out)
            return stopped.value.code, report["findings"], report
        *lines, last = map(json.loads, said.out.splitlines())
        return stopped.value.code, [line["finding"] for line in lines], last

    return run


STREAMS = {
    "pods, some of them wrong": "".join(POD % (number, GOOD if number % 7 else BAD) for number in range(120)),
    "a definition before its object": f"{DEFINITION}\n{WIDGET}\n",
    "a Namespace before its pods": f"{NAMESPACE}\n{RESTRICTED}",
    "a policy before what it denies": POLICY + "\n" + BINDING + "\n" + "".join(POD % (n, GOOD) for n in range(120)),
    "documents of YAML": "---\n".join(POD % (number, BAD) for number in range(3)),
    "what cannot be read": "a: [\n---\n" + POD % (1, GOOD),
}


@pytest.mark.parametrize("text", STREAMS.values(), ids=STREAMS)
def test_a_stream_is_judged_as_a_whole_is(text, judge):
    """Findings, verdicts and the exit code of a stream are those of the same text in one report."""
    code, findings, last = judge(text)
    whole, expected, report = judge(text, format_="json")
    assert expected
    assert (code, findings) == (whole, expected)
    assert (last["summary"], last["skipped"]) == (report["summary"], report["skipped"])
    assert last["version"] == 1


def test_objects_of_other_files_count_for_a_stream(judge, tmp_path):
    """A definition in a folder that is named beside a stream defines a kind of the stream."""
    (tmp_path / "crds").mkdir()
    (tmp_path / "crds" / "a.json").write_text(DEFINITION)
    code, findings, last = judge(WIDGET, "crds")
    assert (code, [finding["rule"] for finding in findings]) == (1, ["schema/type"])
    assert last["summary"]["objects"] == 2


class Endless(io.RawIOBase):
    """A stream of pods that never ends."""

    def read(self, size=-1):
        """Return as many pods as fit."""
        text = (POD % (1, BAD)).encode()
        return text * (max(size, len(text)) // len(text) // 20 + 1)


def test_a_stream_that_never_ends_is_judged_as_it_comes():
    """Findings come while the stream goes on, and nothing of what was judged is kept."""
    known, _, _ = judge_of(
        schemas_dir(Path()), None, None, allow_unknown=(), rulebook=Rulebook(), apply="client", gates=Gates()
    )
    stream = Stream("a", Endless().read, known)
    for result in islice(stream.results(), 3):
        assert result.summary()["invalid"] == len(result.objects) > 0
    assert stream.kept == []
    assert stream.documents > 100


def peak(count):
    """Return the most bytes that were held at once while a stream of so many pods was judged."""
    known, _, _ = judge_of(
        schemas_dir(Path()), None, None, allow_unknown=(), rulebook=Rulebook(), apply="client", gates=Gates()
    )
    long = '{"name": "a", "image": "b", "args": ["%s"]}' % ("x" * 4000)
    text = io.BytesIO("".join(POD % (number, long) for number in range(count)).encode())
    tracemalloc.start()
    try:
        judged = sum(len(result.objects) for result in Stream("a", text.read, known).results())
        return judged, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_longer_stream_takes_no_more_memory():
    """Five times the documents, and no more is held at once than for some."""
    few, some = peak(200)
    many, most = peak(1000)
    assert (few, many) == (200, 1000)
    assert most < 1.3 * some + 2**20


WRONG_ITEMS = {
    "cut off": ('{"a": {', "item 2 of the List is not valid JSON"),
    "no value": ('{"a": x}', "item 2 of the List is not valid JSON"),
    "words between": ("{} oops", "item 3 of the List is not valid JSON"),
    "null": ("null", "item 2 is null; write an object"),
    "a number": ("7", "item 2 is a number; write an object"),
    "a list": ("[1]", "item 2 is a list; write an object"),
}


@pytest.mark.parametrize(("item", "said"), WRONG_ITEMS.values(), ids=WRONG_ITEMS)
def test_a_wrong_item_of_a_long_list_is_named(item, said):
    """It is counted from 0 as in its path, at its line, however long the list is."""
    good = POD.strip() % (1, GOOD)
    items = ",\n".join([good, good, item, good, '{"filler": "%s"}' % ("x" * 9_000_000)])
    text = io.BytesIO(f'{{"apiVersion": "v1", "kind": "List", "items": [\n{items}]}}'.encode())
    known, _, _ = judge_of(
        schemas_dir(Path()), None, None, allow_unknown=(), rulebook=Rulebook(), apply="client", gates=Gates()
    )
    results = list(Stream("a", text.read, known).results())
    found = [finding for result in results for finding in result.findings]
    (named,) = [finding for finding in found if said in finding.message]
    assert (named.location.line, named.location.document) == (4, 3 if "item 3" in said else 2)
    assert named.is_error


USES = {
    "twice": (["validate", "-", "-"], "can be read only once"),
    "as files before and after": (["validate", "-", "--old", "-"], "can be read only once"),
    "of a commit": (["validate", "-", "--against", "HEAD"], "standard input has none of"),
    "with updates of a stream": (["validate", "-", "--old", "a.yaml", "-o", "jsonl"], "use --format json"),
    "to be fixed": (["check", "--fix", "-"], "--fix cannot use standard input"),
    "a wheel": (["init", "new", "--wheel", "-"], "--wheel cannot use standard input"),
}


@pytest.mark.parametrize(("arguments", "said"), USES.values(), ids=USES)
def test_standard_input_is_refused_where_it_means_nothing(arguments, said, tmp_path, monkeypatch, capsys):
    """Where `-` cannot be read, or not again, the error says so."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.yaml").write_text(POD % (1, GOOD))
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert said in capsys.readouterr().err


READERS = {
    "validate": (["validate", "a.yaml", "-"], POD % (2, BAD), "<stdin>:1:"),
    "check": (["check", "a.yaml", "-"], POD % (2, BAD), "<stdin>:1:"),
    "run": (["run", "-", "a.yaml", "--show"], POD % (2, GOOD), "p2"),
    "node replay": (["node", "replay", "-"], "{}\n[\n", "<stdin>:2:"),
    "admit": (["admit", "--replay", "-"], "[\n", "<stdin>:2:"),
}


@pytest.mark.parametrize(("arguments", "text", "said"), READERS.values(), ids=READERS)
def test_every_command_that_reads_files_reads_standard_input(arguments, text, said, tmp_path, monkeypatch, capsys):
    """`-` stands for standard input beside files, and is called <stdin> in what is said."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    (tmp_path / "a.yaml").write_text(POD % (1, GOOD))
    with pytest.raises(SystemExit):
        main(arguments)
    heard = capsys.readouterr()
    assert said in heard.out + heard.err


@pytest.mark.parametrize("format_", ["text", "json", "jsonl", "sarif", "junit", "github", "markdown"])
def test_every_format_names_standard_input_alike(format_, tmp_path, monkeypatch, capsys):
    """A finding in standard input is at <stdin>, escaped as the format does it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO((POD % (2, BAD)).encode())))
    with pytest.raises(SystemExit):
        main(["validate", "-", "-o", format_])
    out = capsys.readouterr().out
    assert any(name in out for name in ("<stdin>", "&lt;stdin&gt;", "&#60;stdin&#62;", "%3Cstdin%3E"))
