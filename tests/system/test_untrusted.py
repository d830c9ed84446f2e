"""What a checkout holds starts no program, leads nowhere else, and ends: settings, links, devices, large trees."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from repo import Repo
from trainyard.base.errors import ToolError, TrainyardError
from trainyard.base.findings import Finding
from trainyard.base.system import files, git_command
from trainyard.base.system import git as system_git
from trainyard.base.system.git import Git
from trainyard.judge.checks import inputs
from trainyard.render.tree.commit import base_commit


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """Return a repository with two commits on main, whose file is not as its times say."""
    repo = Repo(tmp_path / "repo")
    repo.put("generated/a.yaml", "a: 1\n")
    repo.commit()
    repo.put("generated/a.yaml", "a: 2\n")
    repo.commit()
    os.utime(repo.root / "generated/a.yaml", (1, 1))
    return repo


def used(repo: Repo) -> None:
    """Ask Git everything that is asked of a checkout."""
    git = system_git.find(repo.root)
    assert git is not None
    base_commit(git)
    git.changed()
    git.kept_files()
    git.ignored(["x"])
    git.ignores_itself()
    git.staged("generated")
    git.unstaged("generated")
    git.branches("refs/heads")
    tree = git.object_id("HEAD", "generated")
    assert tree is not None
    list(git.read(git.listing(tree).values()))


SETTINGS = {
    "a monitor of files": {"core.fsmonitor": "{script}"},
    "hooks": {"core.hooksPath": "{hooks}"},
    "a filter": {"filter.x.clean": "{script}", "filter.x.smudge": "{script}", "filter.x.required": "true"},
    "a filter that stays": {"filter.x.process": "{script}", "filter.x.required": "true"},
    "a filter with a dot in its name": {"filter.x.y.clean": "{script}", "filter.x.y.required": "true"},
    "a filter whose name has an equals sign": {"filter.a=b.clean": "{script}", "filter.a=b.required": "true"},
    "another program for differences": {"diff.external": "{script}", "diff.x.textconv": "{script}"},
    "a pager": {"core.pager": "{script}", "pager.status": "{script}", "pager.ls-files": "{script}"},
    "an editor": {"core.editor": "{script}", "core.askPass": "{script}", "credential.helper": "{script}"},
    "a command for fetching": {"core.sshCommand": "{script}", "core.gitProxy": "{script}"},
    "other names of commands": {"alias.status": "!{script}", "alias.ls-files": "!{script}"},
}


@pytest.mark.parametrize("case", SETTINGS)
def test_settings_of_a_checkout_start_nothing(case: str, repo: Repo, tmp_path: Path) -> None:
    """Whatever its configuration and its attributes name is not run by what reads it."""
    script = tmp_path / "hooks" / "post-index-change"
    script.parent.mkdir()
    script.write_text(f"#!/bin/sh\ntouch {tmp_path}/started\ncat\n", encoding="utf-8")
    script.chmod(0o755)
    for name, value in SETTINGS[case].items():
        repo.git("config", name, value.format(script=script, hooks=script.parent))
    filters = {name.partition(".")[2].rpartition(".")[0] for name in SETTINGS[case] if name.startswith("filter.")}
    repo.put(".gitattributes", f"* filter={next(iter(filters), 'x')} diff=x\n")
    used(repo)
    assert not (tmp_path / "started").exists()


def test_a_partial_clone_fetches_nothing(repo: Repo, tmp_path: Path) -> None:
    """What it lacks is an error: to fetch it would start what its settings name."""
    script = tmp_path / "script"
    script.write_text(f"#!/bin/sh\ntouch {tmp_path}/started\n", encoding="utf-8")
    script.chmod(0o755)
    for name, value in {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.url": f"ext::{script}",
        "remote.origin.promisor": "true",
        "protocol.ext.allow": "always",
    }.items():
        repo.git("config", name, value)
    git = system_git.find(repo.root)
    assert git is not None
    with pytest.raises(ToolError, match="no object"):
        list(git.read(["1" * 40]))
    assert not (tmp_path / "started").exists()


def test_variables_of_git_lead_nowhere_else(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that a hook is given, or that name programs and other objects, do not count; the user's settings do."""
    other = Repo(tmp_path / "other")
    for name in ("GIT_DIR", "GIT_OBJECT_DIRECTORY", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_WORK_TREE"):
        monkeypatch.setenv(name, str(other.root / ".git"))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "false")
    monkeypatch.setenv("GIT_CONFIG_PARAMETERS", "'core.bare=true'")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    used(repo)
    assert not {"GIT_DIR", "GIT_CONFIG_PARAMETERS"} & set(git_command.environment())
    assert "GIT_CONFIG_GLOBAL" in git_command.environment()


def test_an_object_is_what_its_id_says(repo: Repo) -> None:
    """A checkout's replacements and grafts put no other text or history in its place."""
    first, last = repo.git("rev-parse", "HEAD~1"), repo.git("rev-parse", "HEAD")
    old, new = (repo.git("rev-parse", f"{commit}:generated/a.yaml") for commit in (first, last))
    repo.git("replace", old, new)
    (repo.root / ".git/info").mkdir(exist_ok=True)
    (repo.root / ".git/info/grafts").write_text(f"{last}\n", encoding="utf-8")
    git = system_git.find(repo.root)
    assert git is not None
    assert list(git.read([old, new])) == [b"a: 1\n", b"a: 2\n"]
    assert git.object_id("HEAD~1", "generated") == repo.git("--no-replace-objects", "rev-parse", f"{first}:generated")


def test_a_bare_repository_in_a_checkout_is_none(repo: Repo) -> None:
    """A folder that looks like one, with settings of its own, is not read as one."""
    bare = repo.root / "jobs/nlp"
    bare.mkdir(parents=True)
    Repo(repo.root, create=False).git("init", "--quiet", "--bare", str(bare))
    with pytest.raises(ToolError):
        Git(bare, "").listing("HEAD")


def test_only_plain_files_are_read(tmp_path: Path) -> None:
    """Of links, pipes, devices, sockets and folders there is nothing to read, and none of them is waited for."""
    (tmp_path / "file").write_bytes(b"text")
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "lost").symlink_to("nowhere")
    os.mkfifo(tmp_path / "pipe")
    names = ("link", "zero", "lost", "pipe", "", "absent", "file/below")
    assert [files.read(tmp_path / name) for name in names] == [None] * len(names)
    assert files.read(tmp_path / "file") == b"text"
    assert files.read(Path("/dev/zero")) is None
    assert files.read_installed(tmp_path / "link") == b"text"


def test_a_file_without_an_end_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file larger than any that is meant is not read into memory."""
    with (tmp_path / "large").open("wb") as file:
        file.truncate(files.MOST_BYTES + 1)
    with pytest.raises(OSError, match="too large"):
        files.read(tmp_path / "large")


def test_a_tree_without_an_end_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More files, or folders in each other, than anybody means are told, not listed."""
    deep = tmp_path / "deep"
    deep.joinpath(*["d"] * (files.MOST_DEPTH + 1)).mkdir(parents=True)
    with pytest.raises(TrainyardError, match="folders in each other"):
        files.walk(deep)
    monkeypatch.setattr(files, "MOST_FILES", 3)
    for number in range(9):
        (tmp_path / f"wide/{number}/d").mkdir(parents=True)
        (tmp_path / f"wide/{number}/f").touch()
    with pytest.raises(TrainyardError, match="more than 3 files"):
        files.walk(tmp_path / "wide")


def test_links_out_of_a_named_folder_are_not_followed(tmp_path: Path) -> None:
    """What they lead to may be anybody's, and would be shown; those inside lead to what is judged anyway."""
    folder = tmp_path / "named"
    folder.mkdir()
    (tmp_path / "secret.yaml").write_text("token: hunter2\n", encoding="utf-8")
    (folder / "a.yaml").write_text("a: 1\n", encoding="utf-8")
    (folder / "in.yaml").symlink_to("a.yaml")
    (folder / "out.yaml").symlink_to("../secret.yaml")
    told: list[Finding] = []
    found = dict(inputs.collect([str(folder)], told.append))
    assert sorted(Path(name).name for name in found) == ["a.yaml", "in.yaml"]
    assert [(Path(item.location.file).name, item.rule) for item in told] == [("out.yaml", "decode/unreadable")]
    assert dict(inputs.collect([str(folder / "out.yaml")]))
