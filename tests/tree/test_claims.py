"""What a change makes of volumes that clusters have, in every command, on a little repository that is live."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from command import Done
from command import call as trainyard
from conftest import ROOT
from make import CLUSTER, TEAM, write_repository
from repo import Repo

pytestmark = [pytest.mark.node, pytest.mark.slow]

FIXED = {"provisioner": "azurelustre.csi.azure.com", "existing": True, "allowVolumeExpansion": False}
STORAGE = {
    **CLUSTER["storage"],
    "fixed": FIXED,
    "elastic": {**FIXED, "provisioner": "nfs.csi.k8s.io", "allowVolumeExpansion": True},
}
VOLUMES = {name: {"storage": name, "size": "10Gi"} for name in STORAGE}
OWN = """apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: mine, namespace: nlp}
spec:
  accessModes: [ReadWriteMany]
  storageClassName: shared
  volumeMode: Filesystem
  resources: {requests: {storage: 10Gi}}
"""
EXTRA = "platform/extra/test/teams/nlp/mine.yaml"


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """Make a live repository whose team has a volume of each storage, committed on main, and go to a branch."""
    repo = Repo(tmp_path_factory.mktemp("committed") / "repo")
    rewrite(repo)
    (repo.root / ".tools").symlink_to(ROOT / ".tools")
    repo.put(".gitignore", ".tools\n")
    repo.put(EXTRA, OWN)
    done = trainyard(repo.root, "synth")
    assert done.returncode == 0, done.stderr
    repo.commit()
    repo.git("switch", "-qc", "work")
    return repo


def rewrite(repo: Repo, *, volumes: dict[str, Any] | None = None, storage: dict[str, Any] | None = None) -> None:
    """Write the specs again with other volumes or storage."""
    team = {**TEAM, "volumes": {**TEAM["volumes"], **VOLUMES, **(volumes or {})}}
    write_repository(
        repo.root, teams={"nlp": team}, clusters={"test": {**CLUSTER, "storage": {**STORAGE, **(storage or {})}}}
    )


def sized(name: str, size: str) -> Callable[[Repo], None]:
    """Return what gives the volume of a storage another size."""
    return lambda repo: rewrite(repo, volumes={name: {"storage": name, "size": size}})


def own(old: str, new: str) -> Callable[[Repo], None]:
    """Return what edits a claim of one's own."""
    return lambda repo: str(repo.put(EXTRA, OWN.replace(old, new)))  # type: ignore[return-value]


def access(repo: Repo) -> None:
    """Say that volumes of a storage are attached in another way."""
    rewrite(repo, storage={"shared": {**STORAGE["shared"], "access": "ReadOnlyMany"}})


Case = tuple[Callable[[Repo], object], str, str, str]
REFUSED: dict[str, Case] = {
    "a shrink": (
        sized("shared", "5Gi"),
        "sto-shrink",
        "platform/teams/nlp.yaml:8:11",
        "volume 'shared' shrinks from 10Gi to 5Gi, but volumes cannot shrink; use at least 10Gi",
    ),
    "a shrink where volumes do not grow either": (
        sized("fixed", "9Gi"),
        "sto-shrink",
        "platform/teams/nlp.yaml:",
        "volume 'fixed' shrinks from 10Gi to 9Gi",
    ),
    "a growth that the storage forbids": (
        sized("fixed", "20Gi"),
        "sto-growth",
        "platform/teams/nlp.yaml:",
        "volume 'fixed' grows from 10Gi to 20Gi, but volumes of storage 'fixed' cannot grow",
    ),
    "another storage": (
        lambda repo: rewrite(repo, volumes={"shared": {"storage": "elastic", "size": "10Gi"}}),
        "sto-claim-fixed",
        "platform/teams/nlp.yaml:7:14",
        "storageClassName of volume 'shared' changes from 'shared' to 'elastic'",
    ),
    "a snapshot for a volume that exists": (
        lambda repo: rewrite(repo, volumes={"shared": {**VOLUMES["shared"], "fromSnapshot": "shared-20261127-02"}}),
        "sto-claim-fixed",
        "platform/teams/nlp.yaml:",
        "volume 'shared' exists, so the snapshot that it begins with cannot change; restore it in a new volume",
    ),
    "another access": (
        access,
        "sto-claim-fixed",
        "platform/clusters/test.yaml:",
        "accessModes of volume 'checkpoints' changes from ReadWriteMany to ReadOnlyMany",
    ),
    "a claim of one's own that shrinks": (
        own("10Gi", "1Gi"),
        "sto-shrink",
        f"{EXTRA}:8:",
        "volume 'mine' shrinks from 10Gi to 1Gi",
    ),
    "a claim of one's own in another mode": (
        own("Filesystem", "Block"),
        "sto-claim-fixed",
        f"{EXTRA}:7:",
        "volumeMode of volume 'mine' changes from 'Filesystem' to 'Block'",
    ),
}


def told(done: Done, rule: str, place: str, message: str) -> bool:
    """Say whether a command says something, with its place, as an error."""
    lines = [line for line in (done.stdout + done.stderr).splitlines() if line.endswith(f"[{rule}]")]
    return any(line.startswith(place) and f": error: {message}" in line for line in lines)


@pytest.mark.parametrize(("change", "rule", "place", "message"), REFUSED.values(), ids=REFUSED)
def test_what_no_cluster_takes_is_refused(repo: Repo, change, rule: str, place: str, message: str) -> None:
    """Synth writes nothing, plan leads with it, and what `make check` asks fails: with the line that a person wrote."""
    change(repo)
    for command in (("synth",), ("synth", "--check"), ("plan",)):
        done = trainyard(repo.root, *command)
        assert done.returncode == 1, (command, done.stdout, done.stderr)
        assert told(done, rule, place, message), (command, done.stdout, done.stderr)


def test_validate_judges_the_tree_at_hand_over_the_base(repo: Repo) -> None:
    """A tree in which a claim shrank, however it got there, is refused with the line in the specs."""
    path = repo.root / "generated/test/teams/nlp/persistentvolumeclaim.shared.yaml"
    path.write_text(path.read_text().replace("10Gi", "5Gi"))
    done = trainyard(repo.root, "validate")
    assert done.returncode == 1
    assert told(done, "sto-shrink", "platform/teams/nlp.yaml:8:11", "volume 'shared' shrinks from 10Gi to 5Gi")
    assert "[update/volume-claim]" not in done.stdout
    assert trainyard(repo.root, "validate", "--base", "nowhere").returncode == 2


def test_an_index_that_is_gone_hides_no_shrink(repo: Repo) -> None:
    """Where the tree at hand has no index of a folder, that of the base says where a claim comes from."""
    sized("shared", "5Gi")(repo)
    folder = repo.root / "generated/test"
    claim = folder / "teams/nlp/persistentvolumeclaim.shared.yaml"
    claim.write_text(claim.read_text().replace("10Gi", "5Gi"))
    for index in (folder / "index").glob("teams*"):
        shutil.rmtree(index) if index.is_dir() else index.unlink()
    done = trainyard(repo.root, "validate")
    assert done.returncode == 1, done.stderr
    assert told(done, "sto-shrink", "platform/teams/nlp.yaml:8:11", "volume 'shared' shrinks from 10Gi to 5Gi")


def test_validate_judges_other_updates_over_the_base(repo: Repo) -> None:
    """What may not change of any object is refused in `make check`, where nobody says `--against`."""
    rewrite(repo, storage={"shared": {**STORAGE["shared"], "parameters": {"server": "other", "share": "/export"}}})
    assert trainyard(repo.root, "synth").returncode == 0
    done = trainyard(repo.root, "validate")
    assert done.returncode == 1
    assert "storageclass.shared.yaml" in done.stdout
    assert "[update/storage" in done.stdout
    assert "changes:" not in done.stdout
    planned = trainyard(repo.root, "plan")
    assert planned.returncode == 1
    assert planned.stdout.startswith("cannot be merged, 1 error")
    assert "[update/storage" in planned.stdout


GROWS = {
    "a storage of ours whose driver grows": ("shared", "20Gi"),
    "a storage that exists and says so": ("elastic", "1Ti"),
}


@pytest.mark.parametrize(("name", "size"), GROWS.values(), ids=GROWS)
def test_what_clusters_take_passes_everywhere(repo: Repo, name: str, size: str) -> None:
    """A claim is bound by the time that it grows, whatever its file says not."""
    sized(name, size)(repo)
    for command in (("synth",), ("synth", "--check"), ("validate",), ("plan",)):
        done = trainyard(repo.root, *command)
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        assert "sto-" not in done.stdout + done.stderr
    done = trainyard(repo.root, "validate", "--against", "main")
    assert f"in place PersistentVolumeClaim nlp/{name}" in done.stdout
    assert done.returncode == 0, done.stdout


def test_a_storage_of_which_nothing_is_known_is_a_warning(repo: Repo) -> None:
    """Growth there may pass or not, and the finding says what to write once somebody has looked."""
    sized("local", "20Gi")(repo)
    done = trainyard(repo.root, "synth")
    assert done.returncode == 0, done.stderr
    assert "warning: volume 'local' grows from 10Gi to 20Gi; check with `kubectl get storageclass`" in done.stderr
    assert "[sto-growth]" in done.stderr
    assert trainyard(repo.root, "plan").returncode == 0
    assert trainyard(repo.root, "validate").returncode == 0


PINNED = OWN.replace("volumeMode", "volumeName: pv-1\n  volumeMode")


def test_a_volume_that_is_named_stays_the_same(repo: Repo) -> None:
    """One that is named only now may be the one that the cluster chose, which nobody here knows; none is taken back."""
    repo.put(EXTRA, PINNED)
    done = trainyard(repo.root, "synth")
    assert done.returncode == 0, done.stderr
    assert f"{EXTRA}:7:" in done.stderr
    assert "warning: volume 'mine' now sets volumeName 'pv-1'; the API server accepts only" in done.stderr
    repo.commit()
    repo.git("branch", "-f", "main", "work")
    for text, now in ((PINNED.replace("pv-1", "pv-2"), "'pv-2'"), (OWN, "nothing")):
        repo.put(EXTRA, text)
        done = trainyard(repo.root, "synth", "--base", "main")
        assert done.returncode == 1
        assert f"error: volumeName of volume 'mine' changes from 'pv-1' to {now}, but it cannot change" in done.stderr


def test_the_same_size_in_other_words_is_no_change(repo: Repo) -> None:
    """10Gi is 10240Mi."""
    own("10Gi", "10240Mi")(repo)
    done = trainyard(repo.root, "synth")
    assert (done.returncode, done.stderr) == (0, "")


def test_nothing_is_frozen_where_nobody_syncs(tmp_path: Path) -> None:
    """While live is false, no cluster has the claim."""
    repo = Repo(tmp_path / "repo")
    rewrite(repo)
    settings = repo.root / "platform/repository.yaml"
    settings.write_text(settings.read_text().replace("live: true", "live: false"))
    assert trainyard(repo.root, "synth").returncode == 0
    repo.commit()
    repo.git("switch", "-qc", "work")
    sized("shared", "5Gi")(repo)
    settings.write_text(settings.read_text().replace("live: true", "live: false"))
    assert trainyard(repo.root, "synth").returncode == 0
