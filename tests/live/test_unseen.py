"""Whatever a real Argo CD takes from the tree's folders, a check of the tree has seen, whatever its name.

Needs TRAINYARD_ARGOCD, the kubeconfig of a cluster with Argo CD, Kueue, JobSet and nodes (KWOK's will do), and
TRAINYARD_THROWAWAY=1, which says that it may be changed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

import pytest

from argocd_site import NAME, Site, running
from command import call

pytestmark = pytest.mark.argocd

FILES = (
    ".trainyard-1-1.yaml",
    ".trainyard-1-1.tmp",
    ".hidden.yaml",
    "..yaml",
    "plain.yaml",
    "other.yml",
    "object.json",
    "object.jsonnet",
    "LARGE.YAML",
    "copy.yaml~",
    "copy.yaml.orig",
    "two words.yaml",
    "deep/plain.yaml",
    "deep/.hidden/plain.yaml",
    ".git-like/plain.yaml",
    "-rf.yaml",
    "executable.yaml",
    "link.yaml",
)
"""What somebody might leave in a team's folder; each holds one object that is named by its place here."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The cluster with the root Application applied, or a loud skip."""
    with running("TRAINYARD_ARGOCD", tmp_path_factory.mktemp("argocd")) as found:
        yield found


def left(site: Site) -> dict[str, str]:
    """Leave an object in each of the files, commit and push that, and return the files by the objects' names."""
    folder = f"generated/{NAME}/runs/{NAME}"
    assert (site.repository.root / folder).is_dir()
    names = {}
    for index, file in enumerate(FILES):
        name = f"left-{index}"
        text = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: {NAME}}}\n"
        if file == "object.json":
            metadata = {"name": name, "namespace": NAME}
            text = json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})
        path = site.repository.root / folder / file
        if file == "link.yaml":
            path.symlink_to("plain.yaml")
        else:
            site.repository.put(f"{folder}/{file}", text)
        if file == "executable.yaml":
            path.chmod(0o755)
        names[name] = f"{folder}/{file}"
    site.repository.git("add", "--all", "--force")
    site.repository.git("commit", "--quiet", "--message", "Leave files")
    if remote := os.environ.get("TRAINYARD_ARGOCD_REPO"):
        site.repository.git("push", "--quiet", "--force", remote, "main:main")
    site.refresh()
    return names


def taken(site: Site) -> set[str]:
    """Return the names of left objects that some Application of the cluster has."""
    resources = (application.get("status", {}).get("resources", ()) for application in site.applications().values())
    return {one["name"] for resource in resources for one in resource if one["name"].startswith("left-")}


def test_argo_cd_takes_nothing_that_a_check_has_not_seen(site: Site) -> None:
    """A hidden leftover is applied like any other file; the check names each of them, and refuses the tree."""
    site.until("everything is in sync", site.synced)
    names = left(site)
    site.until("Argo CD has the plainest of them", lambda: "left-4" in taken(site))
    found = {names[name] for name in taken(site)}
    assert len(found) >= 5, found
    done = call(site.repository.root, "synth", "--check", "--format", "json")
    assert done.returncode == 1, done.stdout + done.stderr
    assert [file for file in names.values() if file not in done.stdout] == []
