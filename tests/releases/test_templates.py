"""The importer reads from a chart's templates which cluster-scoped kinds it may make."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from command import Done
from tool import tool

CORE = {
    ("rbac.authorization.k8s.io", "ClusterRole"): "Cluster",
    ("rbac.authorization.k8s.io", "Role"): "Namespaced",
    ("resource.k8s.io", "DeviceClass"): "Cluster",
    ("", "Namespace"): "Cluster",
    ("", "ServiceAccount"): "Namespaced",
}
ROLE = "apiVersion: rbac.authorization.k8s.io/v1\nkind: "

MADE = {
    "an object": ({"a.yaml": f"{ROLE}ClusterRole\n"}, ["rbac.authorization.k8s.io/ClusterRole"]),
    "one of several objects, behind a condition": (
        {"a.yaml": f"{{{{- if .Values.x }}}}\n{ROLE}Role\n---\napiVersion: v1\nkind: Namespace\n{{{{- end }}}}\n"},
        ["/Namespace"],
    ),
    "a group that values choose": (
        {"a.yaml": 'apiVersion: {{ include "x" . }}\nkind: DeviceClass\n'},
        ["resource.k8s.io/DeviceClass"],
    ),
    "a kind that values choose": (
        {"a.yaml": ROLE + '{{ ternary "ClusterRole" "Role" .Values.wide }}\n'},
        ["rbac.authorization.k8s.io/ClusterRole"],
    ),
    "a helper": ({"_a.tpl": f"{ROLE}ClusterRole\n"}, ["rbac.authorization.k8s.io/ClusterRole"]),
    "a chart inside": ({"../charts/b/templates/a.yaml": "apiVersion: v1\nkind: Namespace\n"}, ["/Namespace"]),
    "what is only referred to": ({"a.yaml": f"{ROLE}Role\nroleRef:\n  kind: ClusterRole\n"}, []),
    "a kind that no server here has": ({"a.yaml": "apiVersion: policy/v1beta1\nkind: PodSecurityPolicy\n"}, []),
    "a manifest that is no template": ({"../crds/a.yaml": f"{ROLE}ClusterRole\n"}, []),
}


def imported(folder: Path) -> Done:
    """Import the charts of a folder."""
    done = tool("schemas.py", "--schemas", folder / "schemas", "--charts", folder / "charts")
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture
def chart(tmp_path):
    """A chart in a folder of charts, beside schemas that know the scopes of a few kinds."""
    index = tmp_path / "schemas" / "kubernetes" / "1.35" / "index.json"
    index.parent.mkdir(parents=True)
    kinds = [{"group": group, "kind": kind, "scope": scope} for (group, kind), scope in CORE.items()]
    index.write_text(json.dumps({"kinds": kinds}))
    lock = {"charts": {"acme": {"1.2.0": {"published": "oci://registry.acme.example/charts/acme"}}}}
    (tmp_path / "schemas" / "lock.yaml").write_text(yaml.safe_dump(lock))
    place = tmp_path / "charts" / "acme" / "1.2.0" / "acme"
    place.mkdir(parents=True)
    (place / "values.yaml").write_text("a: 1\n")
    return place


@pytest.mark.parametrize(("templates", "expected"), MADE.values(), ids=MADE)
def test_kinds_of_templates(chart, tmp_path, templates, expected):
    """Whatever some values make counts; what is not known is left out and said."""
    (chart / "templates").mkdir()
    for name, text in templates.items():
        file = chart / "templates" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    done = imported(tmp_path)
    (entry,) = json.loads((tmp_path / "schemas" / "charts" / "index.json").read_text())["charts"]
    assert entry == {
        "clusterKinds": expected,
        "name": "acme",
        "project": "acme",
        "repository": "registry.acme.example/charts",
        "version": "1.2.0",
    }
    assert ("PodSecurityPolicy of policy" in done.stdout) is ("PodSecurityPolicy" in str(templates))


def test_a_chart_without_templates_keeps_what_is_known(chart, tmp_path):
    """Templates that were not collected this time take nothing away."""
    imported(tmp_path)
    file = tmp_path / "schemas" / "lock.yaml"
    lock = yaml.safe_load(file.read_text())
    assert "clusterKinds" not in lock["charts"]["acme"]["1.2.0"]
    lock["charts"]["acme"]["1.2.0"]["clusterKinds"] = ["/Namespace"]
    file.write_text(yaml.safe_dump(lock))
    imported(tmp_path)
    assert yaml.safe_load(file.read_text())["charts"]["acme"]["1.2.0"]["clusterKinds"] == ["/Namespace"]


def test_a_version_is_spelled_as_the_lock_has_it(chart, tmp_path):
    """A chart that was pulled does not say whether its versions begin with a v; whoever wrote the line does."""
    file = tmp_path / "schemas" / "lock.yaml"
    line = {"project": "acme", "published": "https://charts.acme.example", "version": "v1.2.0"}
    file.write_text(yaml.safe_dump({"charts": {"acme": {"1.2.0": line}}}))
    imported(tmp_path)
    (entry,) = json.loads((tmp_path / "schemas" / "charts" / "index.json").read_text())["charts"]
    assert (entry["repository"], entry["version"]) == ("https://charts.acme.example", "v1.2.0")


def test_a_chart_that_is_nowhere_published_is_in_no_index(chart, tmp_path):
    """Argo CD could not fetch it."""
    (tmp_path / "schemas" / "lock.yaml").unlink()
    imported(tmp_path)
    assert json.loads((tmp_path / "schemas" / "charts" / "index.json").read_text()) == {"charts": []}
