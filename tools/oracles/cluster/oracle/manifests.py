"""CRDs and webhook configurations as upstream ships them, pointed at local processes."""

import base64
import hashlib
import json
import re
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import yaml

from . import paths
from .components import OPERATORS, TRAINING

FETCH = "make oracles O=crds fetches them, or set ORACLES_CRDS to a folder of <project>/<release>/*.yaml"

Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Yaml(Loader):
    """The plain scalar `=` (alertmanagerconfigs has one) is a string, as it is for the server."""


Yaml.add_constructor("tag:yaml.org,2002:value", lambda _, node: node.value)

# Where two projects ship the same CRD the earlier wins; the rest follow by name.
PRECEDENCE = ("network-operator", "external-snapshotter", "multus", "mpi-operator")


def documents(path: Path) -> list[dict]:
    """Return the documents of a YAML file."""
    with path.open("rb") as f:
        return [d for d in yaml.load_all(f, Loader=Yaml) if d]


def cached(path: Path) -> list[dict]:
    """Documents of a YAML file; JSON next time, as YAML takes ten times as long."""
    stat = path.stat()
    key = hashlib.sha256(f"{path} {stat.st_size} {stat.st_mtime_ns}".encode()).hexdigest()[:24]
    file = paths.CACHE / "yaml" / f"{key}.json"
    if file.exists():
        return json.loads(file.read_bytes())
    docs = documents(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(docs, separators=(",", ":"), default=str))
    return docs


def natural(version: str) -> list:
    """Return a key that sorts releases by their numbers."""
    return [int(x) if x.isdigit() else x for x in re.split(r"(\d+)", version)]


def releases(line: str) -> dict[str, Path]:
    """Return the folder of CRDs by project: of its newest release, or of the one before it where there are two."""
    pick = -1 if line == "newest" else -2
    found = {}
    for project in sorted(path for path in paths.CRDS.glob("*") if path.is_dir()):
        folders = sorted(
            (path for path in project.glob("*") if any(path.glob("*.yaml"))), key=lambda p: natural(p.name)
        )
        if folders:
            found[project.name] = folders[max(pick, -len(folders))]
    return found


def projects(asked: str, line: str) -> list[str]:
    """Return the projects that `--crds` names; say which ones of `training` are nowhere to be had."""
    known = releases(line)
    if asked == "none":
        return []
    if asked == "all":
        if not known:
            raise SystemExit(f"{paths.CRDS} has no CRDs; {FETCH}")
        return sorted(known)
    if asked != "training":
        return [part for part in asked.split(",") if part]
    here = [project for project in TRAINING if project in known or (project in OPERATORS and operator_crds(project))]
    if missing := [project for project in TRAINING if project not in here]:
        print(f"no CRDs of {', '.join(missing)}; {FETCH}", file=sys.stderr)
    return here


def crd_files(names: Sequence[str], line: str) -> dict[str, list[Path]]:
    """Return the CRD files by project: those of the chosen release, else those of the operator as it was built."""
    known = releases(line)
    found = {name: sorted(known[name].glob("*.yaml")) for name in names if name in known}
    found |= {name: operator_crds(name) for name in names if name not in known and name in OPERATORS}
    if missing := [name for name in names if not found.get(name)]:
        raise SystemExit(f"no CRDs of {', '.join(missing)} in {paths.CRDS}; {FETCH}")
    return found


def operator_crds(name: str) -> list[Path]:
    """Return the files with CRDs that were copied from an operator's module."""
    op = OPERATORS[name]
    folder = paths.MANIFESTS / f"{name}-{op.version}" / op.crds
    if folder.is_file():
        return [folder]
    return sorted(
        p
        for d in (folder, folder / "bases")
        for p in d.glob("*.yaml")
        if "kind: CustomResourceDefinition" in p.read_text()[:4000]
    )


def conversion_patches(name: str) -> dict[str, dict]:
    """spec.conversion by CRD name, from the patches the kustomization has switched on."""
    op = OPERATORS[name]
    folder = paths.MANIFESTS / f"{name}-{op.version}" / op.crds
    kustomization = folder / "kustomization.yaml"  # of a single file there is none
    patches = {}
    if kustomization.exists():
        for entry in documents(kustomization)[0].get("patches") or ():
            if "path" not in entry:
                continue
            for doc in documents(folder / entry["path"]):
                if isinstance(doc, dict) and "conversion" in (doc.get("spec") or {}):
                    patches[doc["metadata"]["name"]] = doc["spec"]["conversion"]
    return patches


def client_config(port: int, path: str, ca: bytes) -> dict:
    """Return how the server reaches a webhook on loopback."""
    return {"url": f"https://127.0.0.1:{port}{path}", "caBundle": base64.b64encode(ca).decode()}


def crds(projects, line, ports: dict[str, int], ca: bytes, mpijob: str) -> tuple[list[dict], dict[str, dict]]:
    """Return the CRDs to install, and the spec.conversion of those that a running operator converts.

    A running operator brings its own CRDs; of other projects they are those of the chosen release line.
    """
    found: dict[str, dict] = {}
    conversions: dict[str, dict] = {}
    order = sorted(projects, key=lambda p: (p not in ports, PRECEDENCE.index(p) if p in PRECEDENCE else 99, p))
    if mpijob == "v1":
        order = [p for p in order if p != "mpi-operator"]
    elif "mpi-operator" in order:
        order.remove("mpi-operator")
        order.insert(0, "mpi-operator")
    shared = crd_files(projects, line)
    for project in order:
        running = project in ports
        files = operator_crds(project) if running else shared.get(project, [])
        patches = conversion_patches(project) if running else {}
        for file in files:
            for doc in cached(file):
                if doc.get("kind") != "CustomResourceDefinition" or doc["metadata"]["name"] in found:
                    continue
                conversion = patches.get(doc["metadata"]["name"]) or doc["spec"].get("conversion") or {}
                doc["spec"].pop("conversion", None)  # without its operator nobody would answer
                if conversion.get("strategy") == "Webhook" and running:
                    conversion = json.loads(json.dumps(conversion))
                    service = conversion["webhook"]["clientConfig"].get("service") or {}
                    conversion["webhook"]["clientConfig"] = client_config(
                        ports[project], service.get("path", "/convert"), ca
                    )
                    conversions[doc["metadata"]["name"]] = conversion
                doc.pop("status", None)
                found[doc["metadata"]["name"]] = doc
    return list(found.values()), conversions


CRD_ROOT = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def install_crds(client, docs: list[dict]) -> None:
    """Create CRDs, four at once."""

    def one(doc):
        """Send one of them."""
        answer = client.request("POST", CRD_ROOT, doc)
        if not answer.ok:
            raise RuntimeError(f"{doc['metadata']['name']}: {answer.code} {answer.body.get('message')}")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(one, docs))


def install_conversions(client, conversions: dict[str, dict]) -> None:
    """Have the server convert by webhook where a running operator does."""

    def one(item):
        """Send one of them."""
        name, conversion = item
        client.request(
            "PATCH", f"{CRD_ROOT}/{name}", {"spec": {"conversion": conversion}}, "application/merge-patch+json"
        ).must()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(one, conversions.items()))


def _json_patch(doc: dict, ops: list[dict]) -> None:
    for op in ops:
        *parents, last = [p.replace("~1", "/") for p in op["path"].lstrip("/").split("/")]
        at = doc
        for p in parents:
            at = at[int(p)] if isinstance(at, list) else at[p]
        if isinstance(at, list):
            at[int(last)] = op["value"]
        else:
            at[last] = op["value"]


def webhooks(name: str, port: int, ca: bytes) -> list[dict]:
    """The operator's webhook configurations after its own kustomization, by url."""
    op = OPERATORS[name]
    if not op.webhooks:
        return []
    folder = paths.MANIFESTS / f"{name}-{op.version}" / op.webhooks
    source = folder if folder.is_file() else folder / "manifests.yaml"
    docs = [d for d in documents(source) if d["kind"].endswith("WebhookConfiguration")]
    kustomization = {} if folder.is_file() else documents(folder / "kustomization.yaml")[0]
    for entry in kustomization.get("patches") or ():
        for patch in documents(folder / entry["path"]) if "path" in entry else yaml.safe_load_all(entry["patch"]):
            if isinstance(patch, list):
                for doc in docs:
                    if doc["kind"] == (entry.get("target") or {}).get("kind"):
                        _json_patch(doc, patch)
            else:
                _merge_webhooks(docs, patch)
    for entry in kustomization.get("replacements") or ():
        _replace_selector(docs, entry)
    for doc in docs:
        if op.prefix:
            doc["metadata"]["name"] = op.prefix + doc["metadata"]["name"]
        for hook in doc["webhooks"]:
            hook["clientConfig"] = client_config(port, hook["clientConfig"]["service"]["path"], ca)
    return docs


def _merge_webhooks(docs, patch: dict) -> None:
    for doc in docs:
        if doc["kind"] == patch["kind"] and doc["metadata"]["name"] == patch["metadata"]["name"]:
            for extra in patch.get("webhooks") or ():
                for hook in doc["webhooks"]:
                    if hook["name"] == extra["name"]:
                        hook.update(extra)


def _replace_selector(docs, entry: dict) -> None:
    """Kueue's one replacement: the namespaceSelector of one webhook onto named others."""
    field = re.compile(r"webhooks\.\[name=([^]]+)\]\.namespaceSelector$")
    source = field.match(entry["source"]["fieldPath"]).group(1)
    hooks = {(d["kind"], h["name"]): h for d in docs for h in d["webhooks"]}
    value = hooks[entry["source"]["kind"], source]["namespaceSelector"]
    for target in entry["targets"]:
        for path in target["fieldPaths"]:
            hook = hooks.get((target["select"]["kind"], field.match(path).group(1)))
            if hook is not None:
                hook["namespaceSelector"] = value


def installed_objects(name: str) -> list[dict]:
    """What every installation of the operator applies besides itself: Trainer's runtimes."""
    op = OPERATORS[name]
    if not op.objects:
        return []
    folder = paths.MANIFESTS / f"{name}-{op.version}" / op.objects
    files = sorted(p for p in folder.rglob("*.yaml") if p.name != "kustomization.yaml" and "data-cache" not in p.parts)
    docs = [d for p in files for d in documents(p) if d["kind"] == "ClusterTrainingRuntime"]
    for doc in docs:  # as the released overlay does
        doc["metadata"].setdefault("labels", {})["trainer.kubeflow.org/webhook-validation"] = "disabled"
    text = re.sub(r"(/kubeflow/trainer/[a-z-]+)(:latest)?(?=\")", rf"\1:v{op.version}", json.dumps(docs))
    return json.loads(text)
