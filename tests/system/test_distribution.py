"""How an extra is added: by what was installed, since a name alone may be somebody else's on an index."""

from __future__ import annotations

import json

import pytest

from trainyard.base.system.distribution import NAME, origin, remedy

WHEEL = "trainyard_gitops-0.1.0-py3-none-any.whl"
HASHES = {"archive_info": {"hash": "sha256=ab", "hashes": {"sha256": "ab"}}}
RECORDED = {
    "a wheel on this machine": (
        {"url": f"file:///tmp/a%20b/{WHEEL}", **HASHES},
        f"install the extra: pip install 'trainyard-gitops[synth] @ file:///tmp/a%20b/{WHEEL}'",
    ),
    "a wheel by its address": (
        {"url": f"https://files.example.com/{WHEEL}", **HASHES},
        f"install the extra: pip install 'trainyard-gitops[synth] @ https://files.example.com/{WHEEL}'",
    ),
    "a checkout that is used as it is": (
        {"url": "file:///home/a%20b/trainyard", "dir_info": {"editable": True}},
        "install the extra: pip install --editable '/home/a b/trainyard[synth]'",
    ),
    "a folder": (
        {"url": "file:///home/trainyard", "dir_info": {}},
        "install the extra: pip install '/home/trainyard[synth]'",
    ),
    "a commit": (
        {"url": "https://git.example.com/t.git", "vcs_info": {"vcs": "git", "commit_id": "c0ffee"}},
        "install the extra: pip install 'trainyard-gitops[synth] @ git+https://git.example.com/t.git@c0ffee'",
    ),
    "an index, which records nothing": (None, "install the wheel of Trainyard again, with its extra 'synth'"),
    "something that is no address": ({"url": 5}, "install the wheel of Trainyard again, with its extra 'synth'"),
}


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Record an installation before any other."""

    def record(written):
        folder = tmp_path / f"{NAME.replace('-', '_')}-0.1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {NAME}\nVersion: 0.1.0\n")
        if written is not None:
            (folder / "direct_url.json").write_text(json.dumps(written))
        monkeypatch.syspath_prepend(str(tmp_path))

    return record


@pytest.mark.parametrize(("written", "said"), RECORDED.values(), ids=RECORDED)
def test_an_extra_is_added_from_where_the_rest_is(installed, written, said):
    """The command installs the same thing again; where nobody knows what that was, there is no command."""
    installed(written)
    assert remedy("synth") == said
    assert len(said.split()) <= 20


def test_the_hash_of_a_wheel_is_known(installed):
    """By what is recorded of an installation, the same wheel can be pinned."""
    installed(RECORDED["a wheel on this machine"][0])
    found = origin()
    assert found is not None
    assert (found.sha256, found.path) == ("ab", f"/tmp/a b/{WHEEL}")
