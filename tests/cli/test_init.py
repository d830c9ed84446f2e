"""`init` begins a repository of one's own beside whatever is there, and loses nothing of it."""

from __future__ import annotations

import hashlib
import os
import pty
import re
import subprocess
import sys

import pytest
import yaml

from command import call
from conftest import ROOT
from new_repositories import ADDRESS, FILE, PINNED, begin, files, settings, wheel
from repo import ENV, Repo

LIVE_LATER = (
    "live is false, so runs are not frozen; set it to true in platform/repository.yaml before Argo CD syncs generated/"
)

PLAIN = {
    ".gitattributes",
    ".gitignore",
    "Makefile",
    "README.md",
    "install/requirements.txt",
    "install/trainyard.txt",
    "platform/repository.yaml",
    *(f"schemas/trainyard/{name}.json" for name in ("cluster", "job", "repository", "team")),
}
EXAMPLE = {"jobs/research/hello.yaml", "platform/clusters/dev.yaml", "platform/teams/research.yaml"}


def test_what_is_written_is_said(tmp_path):
    """A cluster, a team, a job, and what installs Trainyard; not live, and without Git, which comes next."""
    done = begin(tmp_path / "größe a")
    assert set(files(tmp_path / "größe a")) == PLAIN | EXAMPLE
    assert done.stdout.splitlines() == [
        "wrote 14 files to größe a",
        "repoURL in platform/repository.yaml is a placeholder; write the address from which Argo CD reads it",
        LIVE_LATER,
        "next: cd 'größe a' && git init && make synth && make check",
    ]
    assert settings(tmp_path / "größe a")["live"] is False


def test_editors_find_their_schemas(tmp_path):
    """Each spec names a schema that is there."""
    begin(tmp_path / "a")
    for path in (tmp_path / "a").rglob("*.yaml"):
        schema = path.read_text().partition("$schema=")[2].splitlines()[0]
        assert (path.parent / schema).is_file()


def test_a_file_is_no_folder(tmp_path):
    """The sentence names what stands there, not what could not be written below it."""
    there = tmp_path / "notes"
    there.write_text("mine")
    done = begin(there)
    assert (done.returncode, done.stderr) == (2, "trainyard: notes is a file; choose a folder\n")
    assert there.read_text() == "mine"


def test_it_grows_in_a_repository_that_a_forge_has_made(tmp_path):
    """README, licence and history stay as they are, ignored files get more, and the address is the remote's."""
    repo = Repo(tmp_path / "a")
    there = {"README.md": "# Mine\n", "LICENSE": "mine", ".gitignore": "*.pyc\n.venv/", "docs/x.md": "x"}
    for name, text in there.items():
        repo.put(name, text)
    repo.commit()
    repo.git("remote", "add", "origin", "https://ada:hf_no@git.example.org/acme/training.git")
    done = begin(repo.root)
    assert done.returncode == 0
    after = files(repo.root)
    assert {name: after[name].decode() for name in there} == there | {".gitignore": "*.pyc\n.venv/\n.tools/\n"}
    assert settings(repo.root)["repoURL"] == "https://git.example.org/acme/training.git"
    assert done.stdout.splitlines() == [
        "wrote 12 files to a",
        "added 1 line to .gitignore",
        "kept README.md as it was",
        LIVE_LATER,
        "next: cd a && make synth && make check",
    ]


TAKEN = {
    "one file": (["Makefile"], "Makefile exists already; move it away, use --makefile trainyard.mk"),
    "several": (
        ["Makefile", "jobs/research/hello.yaml", "platform/repository.yaml"],
        "Makefile, platform/repository.yaml, jobs/research/hello.yaml exist already; move them away",
    ),
    "a file in place of a folder": (["platform"], "platform exists already; move it away"),
    "what make would read instead": (["GNUmakefile"], "GNUmakefile exists already; move it away"),
    "a pipeline": ([".gitlab-ci.yml"], ".gitlab-ci.yml exists already; move it away"),
}


@pytest.mark.parametrize(("names", "said"), TAKEN.values(), ids=TAKEN)
def test_nothing_is_overwritten(tmp_path, names, said):
    """All that would be lost is named, and not one file is written."""
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("mine")
    done = begin(tmp_path / ".", "--ci", "gitlab")
    assert (done.returncode, done.stderr) == (2, f"trainyard: {said}, or choose another folder\n")
    assert files(tmp_path) == dict.fromkeys(names, b"mine")


def test_twice_is_refused(tmp_path):
    """What was begun is changed by hand, or by `new`."""
    begin(tmp_path / "a")
    (tmp_path / "a" / "Makefile").write_text("mine")
    before = files(tmp_path / "a")
    assert begin(tmp_path / "a").stderr.startswith("trainyard: Makefile exists already; move it away")
    assert files(tmp_path / "a") == before


def test_the_wheel_is_pinned_by_its_address(tmp_path):
    """Pip downloads it and compares the hash; nothing is fetched here."""
    begin(tmp_path / "a")
    assert (tmp_path / "a/install/trainyard.txt").read_text() == f"{ADDRESS} --hash=sha256:{'ab' * 32}\n"
    assert not list(tmp_path.rglob("*.whl"))


def test_the_wheel_is_copied(tmp_path):
    """A file from elsewhere is put into the repository, where a pipeline finds it, and its hash beside it."""
    file = wheel(tmp_path / "downloads")
    done = call(tmp_path, "init", "a", "--wheel", "downloads/" + FILE)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "a/install" / FILE).read_bytes() == file.read_bytes()
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    assert (tmp_path / "a/install/trainyard.txt").read_text() == f"./install/{FILE} --hash=sha256:{digest}\n"


def test_a_wheel_that_is_there_stays_there(tmp_path):
    """A file below the repository is named where it lies."""
    wheel(tmp_path / "a" / "third_party")
    assert call(tmp_path, "init", "a", "--wheel", f"a/third_party/{FILE}").returncode == 0
    assert (tmp_path / "a/install/trainyard.txt").read_text().startswith(f"./third_party/{FILE} --hash=sha256:")
    assert len(list(tmp_path.rglob("*.whl"))) == 1


WHEELS = {
    "nothing there": ("x.whl", "x.whl does not exist; name the file of the wheel, or its address"),
    "no hash": (ADDRESS, f"{ADDRESS} has no hash; end it with #sha256= and the 64 digits of SHA256SUMS"),
    "half a hash": (PINNED[:-1], f"{ADDRESS} has no hash; end it with #sha256= and the 64 digits of SHA256SUMS"),
    "a password": (
        PINNED.replace("//", "//ada:no@"),
        "the wheel's address contains a password or token; remove it, pip reads it from ~/.netrc",
    ),
    "a token": (
        PINNED.replace("#", "?private_token=glpat-8sK2mQvX4tB7zNcR1yWd#"),
        "the wheel's address contains a password or token; remove it, pip reads it from ~/.netrc",
    ),
    "another release": (
        PINNED.replace("-0.1.0-", "-0.0.9-"),
        f"{FILE.replace('0.1.0', '0.0.9')} is release 0.0.9, but this is 0.1.0; run `init` of the same release",
    ),
    "somebody else's": (
        "wheels/trainyard-0.1.0-py3-none-any.whl",
        "trainyard-0.1.0-py3-none-any.whl is not a wheel of trainyard-gitops, which is named trainyard_gitops-",
    ),
    "somebody else's under our name": (
        f"other/{FILE}",
        f"other/{FILE} is a wheel of trainyard, but must be one of trainyard-gitops",
    ),
    "half a file": (f"half/{FILE}", f"half/{FILE} cannot be read as a wheel; download it again"),
    "a host that is open": (
        PINNED.replace("files.example.com", "[::1"),
        "is not an address; write https://, a host and",
    ),
    "no host": (PINNED.replace("files.example.com", ""), "is not an address; write https://, a host and"),
    "a line of its own for pip": (
        PINNED.replace("//", "//x\n--index-url http://e/"),
        "is not an address; write https://",
    ),
    "a variable of whoever installs it": (PINNED.replace("com/", "com/${HOME}/"), "is not an address; write https://"),
    "a space": (
        PINNED.replace("com/", "com/a b/"),
        "is not an address; write https://, a host and the path of the wheel",
    ),
    "another scheme": (PINNED.replace("https", "ftp"), "wheel begins with ftp://, but must be a file, or an address"),
    "another hash": (f"wheels/{FILE}#sha256={'0' * 64}", f"but must have {'0' * 64}"),
}


@pytest.mark.parametrize(("named", "said"), WHEELS.values(), ids=WHEELS)
def test_what_is_no_wheel_of_ours_is_refused(tmp_path, named, said):
    """One sentence says what is missing, and nothing is written."""
    wheel(tmp_path / "wheels", file="trainyard-0.1.0-py3-none-any.whl")
    wheel(tmp_path / "wheels")
    wheel(tmp_path / "other", name="trainyard")
    (tmp_path / "half").mkdir()
    (tmp_path / "half" / FILE).write_bytes((tmp_path / "wheels" / FILE).read_bytes()[:50])
    done = call(tmp_path, "init", "a", "--wheel", named)
    assert (done.returncode, said in done.stderr, (tmp_path / "a").exists()) == (2, True, False), done.stderr
    assert "no@" not in done.stderr
    assert "glpat" not in done.stderr


def test_without_a_wheel_it_says_what_is_missing(tmp_path):
    """A checkout is no wheel: nothing could install from it elsewhere."""
    done = call(tmp_path, "init", "a")
    assert (done.returncode, (tmp_path / "a").exists()) == (2, False)
    assert done.stderr.startswith("trainyard: --wheel is missing: ")


ANSWERS = {
    "live, but nowhere": (["--live"], "--live needs the address that Argo CD syncs; set it with --repo-url"),
    "an address that is none": (["--repo-url", "training"], "repository 'training' must be an address, as in "),
    "an address with a password": (
        ["--repo-url", "https://a:b@git.example.org/x.git"],
        "contains a password; remove it",
    ),
    "a registry that is an address": (["--registry", "https://r.example.org"], "must be a host and a path, as in "),
    "a team above the repository": (["--team", "../x"], "file name '../x' must be lower-case letters, digits"),
    "a pipeline of somebody else": (["--ci", "gitub"], "ci 'gitub' does not exist; did you mean 'github'?"),
    "a team without an example": (["--empty", "--team", "nlp"], "--team has no effect here; remove it"),
    "a team of the system": (["--team", "kube-system"], "team name 'kube-system' is taken by the system"),
}


@pytest.mark.parametrize(("options", "said"), ANSWERS.values(), ids=ANSWERS)
def test_answers_that_cannot_be_are_refused(tmp_path, options, said):
    """What a spec could not say is not written."""
    done = begin(tmp_path / "a", *options)
    assert (done.returncode > 0, said in done.stderr, (tmp_path / "a").exists()) == (True, True, False), done.stderr


def test_names_are_taken_over(tmp_path):
    """Cluster, team, registry and address stand where they belong, and what is written has no fault."""
    url = "git@git.example.org:acme/ml/training.git"
    options = ["--cluster", "eu-1", "--team", "nlp", "--registry", "r.example.org:5000/ml", "--repo-url", url, "--live"]
    done = begin(tmp_path / "a", *options)
    assert {"jobs/nlp/hello.yaml", "platform/clusters/eu-1.yaml", "platform/teams/nlp.yaml"} <= set(
        files(tmp_path / "a")
    )
    assert "live is false" not in done.stdout
    assert settings(tmp_path / "a") == {
        "live": True,
        "repoURL": url,
        "revision": "main",
        "path": "generated",
        "registries": ["r.example.org:5000/ml"],
    }
    explained = call(tmp_path / "a", "explain", "nlp/hello")
    assert explained.returncode == 0, explained.stderr


def test_the_folder_at_hand_needs_no_way_there(tmp_path):
    """What is printed next can be pasted."""
    done = call(tmp_path, "init", ".", "--wheel", PINNED)
    assert done.stdout.splitlines()[-1] == "next: git init && make synth && make check"


def test_what_git_ignores_is_said(tmp_path):
    """A wheel that is never committed would be missed by everybody else."""
    repo = Repo(tmp_path / "a")
    repo.put(".gitignore", "*.whl\ngenerated\n")
    wheel(tmp_path)
    done = call(tmp_path, "init", "a", "--wheel", FILE)
    assert (
        f"Git ignores install/{FILE}; remove the entry from .gitignore, or others will not get the file" in done.stdout
    )
    assert "Git ignores generated/; " in done.stdout


def test_nothing_of_an_example_is_left_out_by_halves(tmp_path):
    """Without the example the folder of clusters is there, which Git keeps."""
    begin(tmp_path / "a", "--empty")
    assert set(files(tmp_path / "a")) == PLAIN | {"platform/clusters/.gitkeep"}
    done = call(tmp_path / "a", "check")
    assert (done.returncode, "0 errors, 0 warnings" in done.stdout) == (0, True), done.stdout + done.stderr


def test_on_a_terminal_it_asks_again(tmp_path):
    """Each question shows what is taken without an answer, and a wrong answer is not the end."""
    ours, theirs = pty.openpty()
    answers = ["git@github.com:acme/training.git", "", "", "Nlp", "nlp", ""]
    command = [sys.executable, "-m", "trainyard", "init", "a", "--wheel", PINNED]
    os.write(ours, "".join(f"{answer}\n" for answer in answers).encode())
    env = {**ENV, "PYTHONPATH": str(ROOT / "platform")}
    done = subprocess.Popen(command, cwd=tmp_path, env=env, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 4096):
            shown += piece
    except OSError:  # what Linux says at the end of a terminal
        pass
    os.close(ours)
    assert done.wait() == 0, shown.decode()
    assert b"name of the first cluster [dev]: " in shown
    assert b"file name 'Nlp' must be lower-case letters" in shown
    assert b"pipeline (github, gitlab, none) [github]" in shown
    assert {"jobs/nlp/hello.yaml", ".github/workflows/trainyard.yaml"} <= set(files(tmp_path / "a"))
    assert "@acme/nlp" in (tmp_path / "a/.github/CODEOWNERS").read_text()


def test_another_release_is_pinned_in_place_of_the_last(tmp_path):
    """Wheel, requirements and schemas change together; what people have written stays."""
    begin(tmp_path / "a")
    mine = files(tmp_path / "a")
    (tmp_path / "a/install/trainyard.txt").write_text("./install/trainyard_gitops-0.0.9-py3-none-any.whl --hash=x\n")
    (tmp_path / "a/install/requirements.txt").write_text("typer==0.0.1\n")
    (tmp_path / "a/schemas/trainyard/job.json").write_text("{}")
    (tmp_path / "a/Makefile").write_text("synth: mine")
    wheel(tmp_path / "a/install", file="trainyard_gitops-0.0.9-py3-none-any.whl")
    file = wheel(tmp_path / "downloads")
    done = call(tmp_path, "init", "a", "--upgrade", "--wheel", str(file))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "removed a/install/trainyard_gitops-0.0.9-py3-none-any.whl\n"
        f"pinned ./install/{FILE}; next: run make synth on a new branch\n"
    )
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    new = {f"install/{FILE}": file.read_bytes(), "Makefile": b"synth: mine"}
    new["install/trainyard.txt"] = f"./install/{FILE} --hash=sha256:{digest}\n".encode()
    assert files(tmp_path / "a") == mine | new
    assert call(tmp_path, "init", "a", "--upgrade", "--wheel", f"a/install/{FILE}").returncode == 0
    assert files(tmp_path / "a") == mine | new


MINE = (
    ".DEFAULT_GOAL := build\nPYTHON := mine\nbuild check setup help:\n\t@echo my $@ $(PYTHON)\ninclude trainyard.mk\n"
)


def test_it_lives_beside_a_makefile(tmp_path):
    """A makefile of another name is included by one that exists, which keeps its targets, variables and default."""
    folder = tmp_path / "a"
    folder.mkdir()
    (folder / "Makefile").write_text(MINE)
    done = begin(folder, "--makefile", "trainyard.mk", "--ci", "github")
    assert (done.returncode, done.stderr) == (0, "")
    assert "to have its targets in your Makefile, add this line at its end: include trainyard.mk\n" in done.stdout
    assert "make -f trainyard.mk trainyard-synth && make -f trainyard.mk trainyard-check\n" in done.stdout
    assert (folder / "Makefile").read_text() == MINE

    def make(*arguments):
        return subprocess.run(
            ["make", "--no-print-directory", *arguments],
            cwd=folder,
            env=ENV,
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    assert [make(), make("check"), make("setup")] == ["my build mine\n", "my check mine\n", "my setup mine\n"]
    assert "trainyard-synth render generated/" in make("trainyard-help")
    assert ".venv/bin/trainyard synth" in make("--dry-run", "trainyard-synth")
    assert make("--dry-run", "trainyard-synth") == make("--dry-run", "--file", "trainyard.mk", "trainyard-synth")
    assert "make -f trainyard.mk trainyard-setup" in (folder / ".github/workflows/trainyard.yaml").read_text()


def test_it_lives_without_make(tmp_path):
    """No makefile is written, one that exists stays, and the next commands set up the repository."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "Makefile").write_text("mine")
    done = begin(tmp_path / "a", "--no-make")
    assert set(files(tmp_path / "a")) == PLAIN | EXAMPLE
    assert (tmp_path / "a" / "Makefile").read_text() == "mine"
    assert "make" not in done.stdout
    assert "install/requirements.txt && .venv/bin/trainyard synth && .venv/bin/trainyard check\n" in done.stdout


INSTALL = [
    "python3 -m venv .venv",
    ".venv/bin/python -P -m pip install --require-hashes --no-deps --requirement install/trainyard.txt",
    ".venv/bin/python -P -m pip install --require-hashes --no-deps --requirement install/requirements.txt",
]

SETUPS = {
    "github": (
        ".github/workflows/trainyard.yaml",
        lambda found: found["jobs"]["check"]["steps"][3]["run"].splitlines(),
    ),
    "gitlab": (".gitlab-ci.yml", lambda found: found["trainyard"]["script"][1:5]),
}


@pytest.mark.parametrize("forge", SETUPS)
def test_a_pipeline_lives_without_make(tmp_path, forge):
    """Its setup is what the makefile would do, and nothing that is written calls make."""
    done = begin(tmp_path / "a", "--no-make", "--ci", forge)
    assert done.returncode == 0, done.stderr
    file, setup = SETUPS[forge]
    *install, kubeconform = setup(yaml.safe_load((tmp_path / "a" / file).read_text()))
    assert install == INSTALL
    assert ".venv/bin/python -P -m trainyard.base.system.kubeconform .tools/bin || " in kubeconform
    written = files(tmp_path / "a")
    assert "Makefile" not in written
    pages = [file, "README.md", *EXAMPLE]
    assert [path for path in pages if re.search(rb"\bmake (?:setup|synth|plan|check)", written[path])] == []
    assert b"    .venv/bin/trainyard synth    # render" in written["README.md"]


RENDERED = {
    "a makefile": ([], "make synth"),
    "one beside another": (["--makefile", "trainyard.mk"], "make -f trainyard.mk trainyard-synth"),
    "none": (["--no-make"], " && ".join([*INSTALL, ".venv/bin/trainyard synth"])),
}


@pytest.mark.parametrize(("options", "words"), RENDERED.values(), ids=RENDERED)
def test_an_upgrade_names_the_commands_that_are_there(tmp_path, options, words):
    """What comes next is said in the words of the repository, whatever makefile it was begun with."""
    begin(tmp_path / "a", *options)
    done = begin(tmp_path / "a", "--upgrade")
    assert done.stdout == f"pinned {ADDRESS}; next: run {words} on a new branch\n"


WRONG_MAKEFILES = {
    "in a folder": (["--makefile", "build/a.mk"], "must be a file in the folder itself"),
    "of a name that make reads first": (["--makefile", "GNUmakefile"], "must be a file in the folder itself"),
    "and none": (["--makefile", "a.mk", "--no-make"], "--no-make cannot be combined with --makefile"),
}


@pytest.mark.parametrize(("options", "said"), WRONG_MAKEFILES.values(), ids=WRONG_MAKEFILES)
def test_a_makefile_that_cannot_be_written_is_refused(options, said, tmp_path):
    """The sentence names the option, and nothing is written."""
    done = begin(tmp_path / "a", *options)
    assert (done.returncode, said in done.stderr, (tmp_path / "a").exists()) == (2, True, False)


def test_an_address_that_is_given_is_nobodys_placeholder(tmp_path):
    """An address on the command line is taken as meant, whatever it is."""
    done = begin(tmp_path / "a", "--repo-url", "https://git.example.com/platform/training.git")
    assert "placeholder" not in done.stdout


UPGRADES = {
    "nothing there": ([], "b/install/trainyard.txt does not exist; create a repository without --upgrade"),
    "more than a release": (["--team", "nlp"], "--team has no effect with --upgrade; remove it"),
    "live": (["--live"], "--live has no effect with --upgrade; remove it"),
    "without the example": (["--empty"], "--empty has no effect with --upgrade; remove it"),
}


@pytest.mark.parametrize(("options", "said"), UPGRADES.values(), ids=UPGRADES)
def test_an_upgrade_changes_the_release_alone(tmp_path, options, said):
    """What else is asked for is refused, and so is a folder that was never begun."""
    done = begin(tmp_path / "b", "--upgrade", *options)
    assert (done.returncode, done.stderr) == (2, f"trainyard: {said}\n")
    assert not (tmp_path / "b").exists()
