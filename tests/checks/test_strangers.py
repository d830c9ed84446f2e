"""`validate` over somebody else's folder: what is read, what is no object, and how a report stays readable."""

from __future__ import annotations

import json
import os

import pytest

from repo import Repo
from trainyard.faces.cli import main
from trainyard.judge.checks.foreign import sift

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: %s}\nspec: {containers: [{name: a, image: b}]}\n"
CHART = "apiVersion: v2\nname: web\nversion: 1.0.0\n"
KUSTOMIZATION = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
WIDGET = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: %s}\n"


def write(folder, **files):
    """Write files, `__` in a name standing for a slash; the ending is yaml unless a name has a dot."""
    for name, text in files.items():
        path = folder / name.replace("__", "/")
        path = path if "." in path.name else path.with_suffix(".yaml")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def judge(capsys, *arguments):
    """Run `validate`; exit code and report."""
    with pytest.raises(SystemExit) as stopped:
        main(["validate", *map(str, arguments), "-o", "json"])
    said = capsys.readouterr()
    return stopped.value.code, json.loads(said.out) if said.out else said.err


def names(report):
    """The names of the objects that were judged."""
    return [item["name"] for item in report["objects"]]


def test_what_git_ignores_is_not_read(tmp_path, capsys):
    """Patterns count as Git reads them, the nearest file last; packages are never read, the rest is counted."""
    (tmp_path / ".git").mkdir()
    write(tmp_path, **{".git__a": POD % "git", "node_modules__b": POD % "package", "c": POD % "kept"})
    write(tmp_path, build__d=POD % "built", e=POD % "named", deep__e=POD % "again", deep__keep=POD % "back")
    (tmp_path / ".gitignore").write_text("/build/\ne.yaml\nkeep.yaml\n")
    (tmp_path / "deep" / ".gitignore").write_text("!keep.yaml\n")
    code, report = judge(capsys, tmp_path)
    assert (code, names(report)) == (0, ["kept", "back"])
    assert report["passed"] == {"folder that .gitignore names": 1, "file that .gitignore names": 2}
    assert names(judge(capsys, tmp_path / "e.yaml")[1]) == ["named"]
    assert names(judge(capsys, tmp_path / "build")[1]) == ["built"]


WAYS = {
    "all but one file": {".gitignore": "*\n!*/\n!k.yaml\n"},
    "folders that are taken back": {".gitignore": "foo/**\n!foo/in/\n!foo/in/k.yaml\n"},
    "a file that is ignored below": {".gitignore": "/*\n!/foo\n/foo/*\n!/foo/in\n", "foo/in/.gitignore": "x.yaml\n"},
    "the file of the repository alone": {".git/info/exclude": "x.yaml\n"},
}


@pytest.mark.parametrize("patterns", WAYS.values(), ids=WAYS)
def test_what_is_ignored_is_what_git_ignores(patterns, tmp_path, capsys):
    """In a work tree the files are those of `git ls-files`, whatever the patterns are, from any folder of it."""
    repo = Repo(tmp_path / "repo")
    write(repo.root, foo__in__k=POD % "kept", foo__in__x=POD % "left", **patterns)
    listed = repo.git("ls-files", "--cached", "--others", "--exclude-standard").splitlines()
    wanted = ["kept"] * ("foo/in/k.yaml" in listed) + ["left"] * ("foo/in/x.yaml" in listed)
    assert "kept" in wanted
    for folder in (repo.root, repo.root / "foo", repo.root / "foo" / "in"):
        assert names(judge(capsys, folder)[1]) == wanted


def test_what_git_tracks_is_read_though_it_is_ignored(tmp_path, capsys):
    """A file that was added by force, another repository, and what a folder holds that is named itself are read."""
    repo = Repo(tmp_path / "repo")
    write(repo.root, build__a=POD % "tracked")
    repo.commit()
    write(repo.root, build__b=POD % "left", only__c=POD % "named", **{".gitignore": "build/\nonly/\n"})
    Repo(repo.root / "other")
    write(repo.root, other__d=POD % "other", other__e=POD % "ignored", **{"other/.gitignore": "e.yaml\n"})
    (repo.root / "empty").mkdir()
    code, report = judge(capsys, repo.root)
    assert (code, names(report)) == (0, ["tracked", "other"])
    assert report["passed"] == {"file that .gitignore names": 2, "folder that .gitignore names": 1}
    assert names(judge(capsys, repo.root / "only")[1]) == ["named"]


@pytest.mark.parametrize(("where", "found"), [(".gitignore", ["a"]), ("generated/.gitignore", ["a", "b"])])
def test_what_a_synth_has_written_is_never_ignored(where, found, tmp_path, capsys):
    """No pattern hides what is applied, with and without Git; of other folders of that name it does."""
    for root in (tmp_path / "plain", Repo(tmp_path / "repo").root):
        (root / "platform" / "clusters").mkdir(parents=True)
        write(root, generated__atlas__a=POD % "a", other__generated__atlas__b=POD % "b", **{where: "atlas/\n"})
        assert names(judge(capsys, root)[1]) == found
        assert names(judge(capsys, root / "generated")[1]) == ["a"]


def test_asking_git_starts_no_program_of_the_repository(tmp_path, capsys):
    """What the settings of a repository name as watcher or hooks is not run by a look at its files."""
    repo = Repo(tmp_path / "repo")
    write(repo.root, a=POD % "a")
    mark, program = tmp_path / "ran", tmp_path / "hooks" / "post-index-change"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\ntouch {mark}\n")
    program.chmod(0o755)
    repo.git("config", "core.fsmonitor", str(program))
    repo.git("config", "core.hooksPath", str(program.parent))
    assert names(judge(capsys, repo.root)[1]) == ["a"]
    assert not mark.exists()


@pytest.mark.parametrize("device", ["pipe", "/dev/zero"])
def test_what_never_ends_is_not_waited_for(device, tmp_path, capsys):
    """A link to a pipe or a device is said, in a folder and by its name; the files beside it are judged."""
    os.mkfifo(tmp_path / "pipe")
    folder = tmp_path / "folder"
    write(folder, a=POD % "a")
    (folder / "b.yaml").symlink_to(tmp_path / device)
    for paths in ((folder,), (folder / "a.yaml", folder / "b.yaml")):
        code, report = judge(capsys, *paths)
        assert (code, names(report)) == (int(len(paths) > 1), ["a"])
        (one,) = report["findings"]
        assert (one["rule"], one["file"]) == ("decode/unreadable", (folder / "b.yaml").as_posix())
        assert ("a pipe or a device" if len(paths) > 1 else "a link to a place outside") in one["message"]


def test_what_a_program_writes_is_read_by_its_pipe(capsys):
    """A pipe that is named itself, as a shell names it for `<(program)`, is read to its end."""
    read, write_end = os.pipe()
    os.write(write_end, (POD % "piped").encode())
    os.close(write_end)
    assert names(judge(capsys, f"/dev/fd/{read}")[1]) == ["piped"]
    os.close(read)


def test_files_are_left_out_by_pattern(tmp_path, capsys):
    """`--exclude` takes what .gitignore would, for files that are named too; one that matches nothing is said."""
    write(tmp_path, a=POD % "a", test__b=POD % "b", test__deep__c=POD % "c")
    code, report = judge(capsys, tmp_path, "--exclude", "test/", "--exclude", "tset/")
    assert (code, names(report)) == (0, ["a"])
    assert report["passed"] == {"file that --exclude names": 2}
    assert "--exclude 'tset/' matches no file" in report["notes"]
    assert names(judge(capsys, tmp_path / "a.yaml", tmp_path / "test" / "b.yaml", "--exclude", "b.yaml")[1]) == ["a"]


NO_OBJECT = {
    "values of a chart": "replicas: 3\nimage: {tag: v1}\n",
    "a list": "- a\n- b\n",
    "comments alone": "# nothing\n",
    "the index of a repository of charts": "apiVersion: v1\nentries: {web: []}\n",
    "a file of Grafana's": "apiVersion: 1\ngroups: []\n",
    "a workflow of CI": "on: push\njobs: {build: {runs-on: ubuntu, steps: [{run: make}]}}\n",
    "text of no YAML that speaks of no object": "{{ template }}\n: [\n",
}


@pytest.mark.parametrize("text", NO_OBJECT.values(), ids=NO_OBJECT)
def test_what_is_no_object_is_counted(text, tmp_path, capsys):
    """A file that nobody would apply is no error, and is counted; where nothing else is there, a warning says so."""
    write(tmp_path, a=text)
    code, report = judge(capsys, tmp_path)
    assert (code, report["passed"]) == (0, {"file without a Kubernetes object": 1})
    assert [finding["rule"] for finding in report["findings"]] == ["decode/no-files"]


OBJECTS = {
    "no apiVersion": ("kind: Pod\nmetadata: {name: a}\n", "decode/apiversion"),
    "a key in another case": ("apiversion: v1\nkind: Pod\n", "decode/apiversion"),
    "neither, but a name": ("metadata: {name: a}\nspec: {}\n", "decode/apiversion"),
    "an object that is no YAML": ("apiVersion: v1\nkind: [\n", "decode/syntax"),
    "a list beside an object": (POD % "a" + "---\n- a\n", "decode/not-an-object"),
    "a list of objects": ("- {apiVersion: v1, kind: Pod, metadata: {name: a}}\n", "decode/not-an-object"),
    "a directive before an object": ("%YAML 1.1\n---\n" + POD % "a", "decode/directive"),
    "a template outside of charts": ("apiVersion: v1\nkind: {{ .Kind }}: a\n", "decode/syntax"),
}


@pytest.mark.parametrize(("text", "rule"), OBJECTS.values(), ids=OBJECTS)
def test_what_is_meant_as_an_object_is_judged(text, rule, tmp_path, capsys):
    """What lacks something of an object is not taken for something else."""
    write(tmp_path, a=text)
    code, report = judge(capsys, tmp_path)
    assert (code, [finding["rule"] for finding in report["findings"]]) == (1, [rule])


def test_charts_are_named_once(tmp_path, capsys):
    """Templates are not read, a chart is named with its command; its definitions are judged."""
    write(tmp_path, web__Chart=CHART, web__values="a: 1\n", web__templates__a="{{ if .Values.a }}\n")
    write(tmp_path, web__templates__deep__b="a: {{\n", web__crds__c=POD % "c")
    write(tmp_path, web__charts__db__Chart=CHART, web__charts__db__templates__d="{{\n")
    write(tmp_path, lib__Chart=CHART + "type: library\n", lib__templates__a="{{\n")
    code, report = judge(capsys, tmp_path)
    assert (code, names(report)) == (0, ["c"])
    assert [item["command"] for item in report["unrendered"]] == [
        f"helm template {tmp_path}/web | trainyard validate -"
    ]
    assert report["passed"] == {"template of a Helm chart": 4, "file of a Helm chart": 4}


def test_kustomizations_are_named_and_their_patches_are_no_objects(tmp_path, capsys):
    """What a kustomization names as a patch, or what patches alone hold, is not judged; the outermost are named."""
    patch = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {replicas: 2}\n"
    write(tmp_path, base__kustomization=KUSTOMIZATION + "resources: [a.yaml]\n", base__a=POD % "a")
    write(
        tmp_path,
        over__kustomization=KUSTOMIZATION
        + "resources: [../base]\npatches: [{path: more.yaml}]\npatchesStrategicMerge: [size.yaml]\n"
        "configMapGenerator: [{name: a, files: [b=held.yaml]}]\n",
        over__more=patch, over__size=patch, over__held=patch,
        over__patches__unused=patch, over__cpu_patch=patch,
        over__gone=POD % "gone" + "$patch: delete\n", over__ops="- {op: add, path: /a, value: 1}\n",
        elsewhere__patch_job=POD % "real",
    )  # fmt: skip
    code, report = judge(capsys, tmp_path)
    assert (code, sorted(names(report))) == (0, ["a", "real"])
    assert [item["command"] for item in report["unrendered"]] == [
        f"kustomize build {tmp_path}/over | trainyard validate -"
    ]
    assert report["passed"]["patch of a kustomization"] == 6
    assert report["passed"]["kustomization"] == 2


def test_what_a_kustomization_may_add_is_not_missing(tmp_path, capsys):
    """A resource of a kustomization lacks what its labels would bring: unknown until it is built; other faults stay."""
    pod = "{metadata: {}, spec: {containers: [{name: a, image: b}]}}"
    text = f"apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: a}}\nspec: {{template: {pod}}}\n"
    write(tmp_path, kustomization=KUSTOMIZATION + "resources: [a.yaml]\n", a=text)
    code, report = judge(capsys, tmp_path)
    assert (code, report["summary"]["unknown"]) == (0, 1)
    assert "its kustomization may add it" in report["findings"][0]["message"]
    write(tmp_path, a=text.replace("image: b", "imagee: b"))
    assert judge(capsys, tmp_path)[0] == 1
    write(tmp_path, kustomization=KUSTOMIZATION, a=text)
    assert judge(capsys, tmp_path)[0] == 1


def test_programs_settings_are_no_objects(tmp_path, capsys):
    """What a program reads from disk is not asked of a server: kind's clusters, kubeadm's and operators' settings."""
    write(
        tmp_path,
        a="apiVersion: kind.x-k8s.io/v1alpha4\nkind: Cluster\n---\napiVersion: v1\nkind: Config\n",
        b=POD % "b",
    )
    code, report = judge(capsys, tmp_path)
    assert (code, names(report), report["passed"]) == (0, ["b"], {"file of a program's settings": 2})


KUEUE = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nintegrations: {frameworks: [%s]}\n"
QUEUED = (
    "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a, labels: {kueue.x-k8s.io/queue-name: q}}\n"
    "spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: b}]}}}\n"
)


@pytest.mark.parametrize(("framework", "rules"), [("pod", ["kq-kind-off"]), ("batch/job", [])])
def test_settings_of_kueue_count_beside_the_objects(tmp_path, capsys, framework, rules):
    """They are no object of a server, and yet say of which kinds Kueue queues jobs."""
    (tmp_path / "all.yaml").write_text(f"{QUEUED}---\n{KUEUE % framework}")
    _, report = judge(capsys, tmp_path / "all.yaml")
    assert [item["rule"] for item in report["findings"] if item["rule"].startswith("kq-")] == rules
    assert report["passed"] == {"file of a program's settings": 1}


SETTINGS = {
    "JobSet's own": "apiVersion: jobset.x-k8s.io/v1alpha1\nkind: Configuration\nmetadata: {name: a}\nspec: {}\n",
    "the kubelet's": "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n",
    "kubeadm's": "apiVersion: kubeadm.k8s.io/v1beta4\nkind: InitConfiguration\n",
    "Kueue's": "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n",
    "Skaffold's": "apiVersion: skaffold/v4beta13\nkind: Config\nmetadata: {name: a}\n",
    "krew's": "apiVersion: krew.googlecontainertools.github.com/v1alpha2\nkind: Plugin\nmetadata: {name: a}\n",
    "a scorecard's": "apiVersion: scorecard.operatorframework.io/v1alpha3\nkind: Configuration\n",
}


@pytest.mark.parametrize("text", SETTINGS.values(), ids=SETTINGS)
def test_settings_of_a_program_are_listed_as_such(text, tmp_path, capsys):
    """A component's own configuration is no unknown kind, and the report names the file."""
    write(tmp_path, a=text, b=POD % "b")
    code, report = judge(capsys, tmp_path)
    assert (code, names(report)) == (0, ["b"])
    assert report["notManifests"] == [{"file": f"{tmp_path}/a.yaml", "what": "file of a program's settings"}]


TEMPLATES = {
    "an action as a value": "metadata: {name: a}\nspec: {replicas: {{.Replicas}}}\n",
    "an action as a key": "metadata:\n  name: a\n  labels:\n    {{.Key}}: b\n",
    "a condition": "metadata:\n  name: a\n{{- if .Labels }}\n  labels: {a: b}\n{{- end }}\n",
    "a loop": "metadata:\n  name: a\n  labels:\n{{- range .L }}\n    {{ . }}: x\n{{- end }}\n",
    "an action that stands for lines": 'metadata:\n  name: a\n  {{addURI "https://{{ .Tag }}/a" .Tag }}\nspec: {}\n',
}


@pytest.mark.parametrize("text", TEMPLATES.values(), ids=TEMPLATES)
def test_a_template_of_go_in_a_folder_is_listed(text, tmp_path, capsys):
    """Outside of charts, too, a template is counted; who names it is told that it has to be rendered, as an error."""
    write(tmp_path, a=f"apiVersion: v1\nkind: ConfigMap\n{text}", b=POD % "b")
    code, report = judge(capsys, tmp_path)
    assert (code, names(report), report["passed"]) == (0, ["b"], {"Go template": 1})
    assert report["notManifests"] == [{"file": f"{tmp_path}/a.yaml", "what": "Go template"}]
    code, report = judge(capsys, tmp_path / "a.yaml")
    assert (code, "render it" in report["findings"][0]["message"]) == (1, True)


QUOTING = 'apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  annotations: {summary: "{{ $labels.pod }}"}\n'
WEBHOOK = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfig\nmetadata: {name: a}\n"
JOBSET = "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: a}\n"
PATCH = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {replicas: 2}\n"
MISTAKES = {
    "a tab in a manifest that quotes an action": (QUOTING + "spec:\n\ta: 1\n", "decode/tab"),
    "a line without a colon behind a quoted action": (QUOTING + "  labels\nspec: {}\n", "decode/syntax"),
    "a misspelt kind": (JOBSET.replace("JobSet", "JobSte"), "schema/unknown-kind"),
    "a misspelt group": (JOBSET.replace("k8s.io", "k8s.oi"), "schema/unknown-kind"),
    "a misspelt kind of a webhook": (WEBHOOK, "schema/unknown-kind"),
    "a configuration of nobody known": ("apiVersion: example.com/v1\nkind: Configuration\n", "schema/unknown-kind"),
    "no kind and no metadata, but a version": ("apiVersion: v1\nname: a\ndata: {}\n", "decode/kind"),
    "a patch in its folder that nobody calls one": (PATCH, "core/controller"),
}


@pytest.mark.parametrize(("text", "rule"), MISTAKES.values(), ids=MISTAKES)
def test_a_manifest_with_a_mistake_is_taken_for_nothing_else(text, rule, tmp_path, capsys):
    """A misspelt manifest in a folder stays one, with its finding: nothing hides it among other files."""
    write(tmp_path, a=text)
    code, report = judge(capsys, tmp_path)
    assert code == 1
    assert rule in {finding["rule"] for finding in report["findings"]}
    assert "this is a template" not in report["findings"][0]["message"]
    assert "notManifests" not in report


FILES = {
    ".github/workflows/ci.yaml": "GitHub workflow",
    "compose.yaml": "Compose file",
    "docker-compose.dev.yml": "Compose file",
    "web-values.yaml": "values of a Helm chart",
    ".gitlab-ci.yml": "GitLab pipeline",
    "recomposed.yaml": "file without a Kubernetes object",
}


@pytest.mark.parametrize(("name", "what"), FILES.items(), ids=FILES)
def test_a_file_without_an_object_has_the_name_that_its_program_looks_for(name, what, tmp_path, capsys):
    """A file without an object is called by its name; an object in a file of that name is judged all the same."""
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("a: 1\n")
    assert judge(capsys, tmp_path)[1]["notManifests"] == [{"file": str(path), "what": what}]
    path.write_text(POD % "a")
    assert names(judge(capsys, tmp_path)[1]) == ["a"]


def test_a_report_counts_what_is_no_manifest_and_lists_it(tmp_path, capsys):
    """The text counts files by what they are; `-v` and naming a file give a line for each."""
    patch = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\n"
    write(tmp_path, kustomization=KUSTOMIZATION + "patches: [{path: p.yaml}, {path: q.yaml}]\n", p=patch, q=patch)
    write(tmp_path, t="kind: {{ .Kind }}\n", b=POD % "b")

    def said(*arguments):
        with pytest.raises(SystemExit):
            main(["validate", *map(str, arguments)])
        return capsys.readouterr().out

    counts = "4 files are not manifests: 1 kustomization, 2 patches of a kustomization, 1 Go template"
    assert f"{counts}; -v lists them\n" in said(tmp_path)
    listed = said(tmp_path, "-v")
    assert f"{counts}\n" in listed
    assert f"  {tmp_path}/p.yaml: patch of a kustomization\n" in listed
    assert f"{tmp_path}/q.yaml is not a manifest: patch of a kustomization\n" in said(tmp_path / "q.yaml")


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """A folder on the PATH into which programs can be put."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")

    def put(name, script):
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)

    return put


def test_charts_are_rendered_where_helm_is(tmp_path, capsys, programs):
    """With `--build` what the programs make is judged, what they refuse is a finding, and a missing one is said."""
    write(tmp_path, up__web__Chart=CHART, up__web__templates__a="{{\n", up__k__kustomization=KUSTOMIZATION)
    code, report = judge(capsys, tmp_path / "up", "--build")
    assert (code, [item["why"] for item in report["skipped"] if item["rule"] == "decode/build"]) == (
        0,
        ["helm is not installed", "kustomize is not installed"],
    )
    assert len(report["unrendered"]) == 2
    programs("helm", f"echo '{(POD % 'made').strip()}'")
    programs("kustomize", "echo 'accumulating resources' >&2; exit 1")
    code, report = judge(capsys, tmp_path / "up", "--build")
    assert (code, names(report)) == (1, ["made"])
    assert report["objects"][0]["file"] == f"{tmp_path}/up/web (helm template)"
    assert [finding["message"] for finding in report["findings"]] == ["kustomize build fails: accumulating resources"]
    assert "unrendered" not in report


def test_an_object_twice_is_a_warning(tmp_path, capsys):
    """One name twice in a file or a folder is said at the second; in another folder it is right."""
    write(tmp_path, a=POD % "x" + "---\n" + POD % "x", b=POD % "x", other__c=POD % "x", d=POD % "z")
    code, report = judge(capsys, tmp_path)
    assert code == 0
    assert [(finding["rule"], finding["file"][-6:], finding["line"]) for finding in report["findings"]] == [
        ("decode/twice", "a.yaml", 6),
        ("decode/twice", "b.yaml", 1),
    ]


ALLOWED = {
    "all": ("*", 0),
    "a group": ("example.com/*", 0),
    "a kind of a group": ("example.com/Widget", 0),
    "a kind": ("Widget", 0),
    "another group": ("example.org/*", 1),
    "a group without its kinds": ("example.com", "is a group; write 'example.com/*' for all its kinds"),
    "a misspelt kind": ("Widgte", "matches no unknown object; did you mean 'Widget'?"),
}


@pytest.mark.parametrize(("pattern", "expected"), ALLOWED.values(), ids=ALLOWED)
def test_unknown_kinds_are_allowed_by_pattern(pattern, expected, tmp_path, capsys):
    """A kind, a kind of a group, a group and everything may be unknown; a word that allows nothing is an error."""
    write(tmp_path, a=WIDGET % "a")
    code, report = judge(capsys, tmp_path, "--allow-unknown", pattern)
    if isinstance(expected, str):
        assert code == 2
        assert expected in report
    else:
        assert (code, report["summary"]["unknown"]) == (expected, 1)


def test_what_is_found_over_and_over_is_said_once(tmp_path, capsys):
    """The text report has one paragraph for equal findings, with their places, and a table of rules at the end."""
    write(tmp_path, **{f"d{number}__a": WIDGET % f"w{number}" for number in range(12)})
    with pytest.raises(SystemExit):
        main(["validate", str(tmp_path)])
    said = capsys.readouterr().out
    assert said.count("is unknown") == 1
    assert "also in 6 other places" in said
    assert "12 error schema/unknown-kind in 12 files" in said


PATHS = {
    "a pattern in quotes": (["{folder}/*.yaml"], 0),
    "a pattern through folders": (["{folder}/**/b.yaml"], 0),
    "a pattern of nothing": (["{folder}/*.yml"], "no file matches"),
    "an address": (["https://example.com/a.yaml"], "fetch it first: curl -sSfL https://example.com/a.yaml | trainyard"),
}  # fmt: skip


@pytest.mark.parametrize(("paths", "expected"), PATHS.values(), ids=PATHS)
def test_paths_are_taken_as_people_write_them(paths, expected, tmp_path, capsys):
    """A pattern that no shell has put files for is looked up; what cannot be read is one sentence."""
    write(tmp_path, a=POD % "a", deep__b=POD % "b")
    code, report = judge(capsys, *(path.replace("{folder}", str(tmp_path)) for path in paths))
    if isinstance(expected, str):
        assert (code, expected in report) == (2, True)
    else:
        assert (code, len(report["objects"])) == (expected, 1)


def test_piped_text_needs_its_sign(tmp_path, capsys, monkeypatch):
    """Outside of a repository nothing is judged without a path, and the sentence says how a pipe is read."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stopped:
        main(["validate"])
    assert stopped.value.code == 2
    assert "trainyard validate -" in capsys.readouterr().err


def test_files_named_one_by_one_are_seen_in_their_folder(tmp_path):
    """A hook names files: a template and a patch are told by what stands around them."""
    write(tmp_path, web__Chart=CHART, web__templates__a="{{\n")
    write(tmp_path, k__kustomization=KUSTOMIZATION + "patches: [{path: deep/p.yaml}]\n", k__deep__p=POD % "p")
    found = sift([(str(tmp_path / name), b"") for name in ("web/templates/a.yaml", "k/deep/p.yaml", "web/b.yaml")])
    assert [name for name, _ in found.files] == [f"{tmp_path}/web/b.yaml"]


def test_a_file_that_is_named_itself_is_no_patch_by_its_name(tmp_path, capsys):
    """What a kustomization beside it does not name is guessed to be a patch in a folder alone."""
    write(tmp_path, kustomization=KUSTOMIZATION + "resources: [a.yaml]\n", a=POD % "a")
    panel = tmp_path / "patch-panel.yaml"
    panel.write_text(POD % "panel")
    assert names(judge(capsys, panel)[1]) == ["panel"]
    assert names(judge(capsys, tmp_path / "kustomization.yaml", panel)[1]) == ["panel"]
    assert names(judge(capsys, tmp_path)[1]) == ["a"]
