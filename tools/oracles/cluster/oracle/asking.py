"""Ask the running server what it says of objects; one JSON line per object.

Reads YAML or JSON files, folders of them, or with `-` or a .jsonl file one object
(or {"id": ..., "object": {...}}) a line. Nothing stays on the server, but namespaces.
"""

import argparse
import json
import re
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import yaml

from . import paths
from .api import Client, UnknownKindError
from .cluster import Cluster
from .manifests import documents
from .procs import Processes

SUFFIXES = (".yaml", ".yml", ".json", ".jsonl")
WEBHOOK = re.compile(r'admission webhook "([^"]+)" denied')
WARNING = re.compile(r'^\d+ \S+ "(.*)"$', re.S)
POLICY = re.compile(r"ValidatingAdmissionPolicy '([^']+)'")
# What server-side apply answers with 500 although the object is at fault.
TYPED = re.compile(
    r"failed to (create typed patch object|convert new object)|field not declared in schema"
    r"|duplicate entries for key|expected (map|list|string|numeric)"
)


def lists(obj: dict, ident: str):
    """The items of a List, or the object itself."""
    if isinstance(obj, dict) and str(obj.get("kind", "")).endswith("List") and isinstance(obj.get("items"), list):
        for i, item in enumerate(obj["items"]):
            yield from lists(item, f"{ident}[{i}]")
    else:
        yield ident, obj


def lines(stream, label: str):
    """Yield the objects of JSON lines, each with a name for it."""
    for number, line in enumerate(stream, 1):
        if line.strip():
            value = json.loads(line)
            if isinstance(value, dict) and isinstance(value.get("object"), dict) and "kind" not in value:
                yield str(value.get("id", f"{label}:{number}")), value["object"]
            else:
                yield f"{label}:{number}", value


def read(source: str):
    """Yield the objects of a file, a folder or standard input, each with a name for it."""
    if source == "-":
        yield from lines(sys.stdin, "-")
        return
    root = Path(source)
    files = [root] if root.is_file() else sorted(p for p in root.rglob("*") if p.suffix in SUFFIXES and p.is_file())
    if not root.exists():
        raise SystemExit(f"no such file: {source}")
    for path in files:
        if path.suffix == ".jsonl":
            with path.open() as f:
                yield from lines(f, str(path))
            continue
        try:
            docs = documents(path)
        except (yaml.YAMLError, UnicodeDecodeError) as e:  # a file that no parser reads has no verdict
            yield str(path), {"unreadable": str(e)}
            continue
        for i, doc in enumerate(docs):
            yield from lists(doc, str(path) if len(docs) == 1 else f"{path}#{i}")


def result(ident: str, answer, show: bool) -> dict:
    """Return the verdict on an object as it is printed."""
    if answer.ok:
        out = {"id": ident, "verdict": "valid", "code": answer.code, "reason": "", "message": "", "causes": []}
        if show:
            out["object"] = answer.body
    else:
        body = answer.body
        message = body.get("message") or ""
        fault = (
            answer.code in (400, 403, 404, 405, 406, 409, 413, 415, 422)
            or (answer.code == 500 and TYPED.search(message))
            or WEBHOOK.search(message)
        )
        out = {
            "id": ident,
            "verdict": "invalid" if fault else "error",
            "code": answer.code,
            "reason": body.get("reason") or "",
            "message": message,
            "causes": [
                {k: c.get(k, "") for k in ("reason", "field", "message")}
                for c in (body.get("details") or {}).get("causes") or ()
            ],
        }
        for key, pattern in (("webhook", WEBHOOK), ("policy", POLICY)):
            if match := pattern.search(message):
                out[key] = match.group(1)
    if answer.warnings:
        out["warnings"] = [WARNING.sub(r"\1", w).replace('\\"', '"') for w in answer.warnings]
    return out


def error(ident: str, reason: str, message: str, verdict="error") -> dict:
    """Return a verdict that did not come from the server."""
    return {"id": ident, "verdict": verdict, "code": 0, "reason": reason, "message": message, "causes": []}


class Asker:
    """Asks one server about objects, in one of several ways."""

    def __init__(self, client: Client, args, controllers: bool):
        self.client, self.args, self.controllers = client, args, controllers
        items = client.get("/api/v1/namespaces").must()["items"]
        self.namespaces = {n["metadata"]["name"] for n in items}

    def ensure_namespaces(self, objects) -> None:
        """Namespaces on demand, with the labels the batch itself gives them."""
        given, needed = {}, set()
        for _, obj in objects:
            if not isinstance(obj, dict) or not isinstance(obj.get("metadata"), dict):
                continue
            if obj.get("kind") == "Namespace":
                given[obj["metadata"].get("name")] = obj
            ns = obj["metadata"].get("namespace")
            if isinstance(ns, str) and ns:
                needed.add(ns)
        needed.add(self.args.namespace)
        for ns in sorted(needed - self.namespaces):
            meta = {"name": ns}
            if self.args.namespace_labels and ns in given:
                meta["labels"] = given[ns]["metadata"].get("labels") or {}
            answer = self.client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": meta})
            if answer.ok and self.controllers:
                self.wait_account(ns)
            elif answer.ok:
                Cluster.service_account(self.client, ns)
            self.namespaces.add(ns)

    def wait_account(self, ns: str) -> None:
        """Wait until a new namespace has its default service account."""
        for _ in range(100):
            if self.client.get(f"/api/v1/namespaces/{ns}/serviceaccounts/default").ok:
                return
            time.sleep(0.05)

    def ask(self, ident: str, obj) -> dict:
        """Send one object in a dry run, or for real with --commit."""
        a = self.args
        if not isinstance(obj, dict):
            return error(ident, "NotAnObject", f"a {type(obj).__name__}, not an object", "invalid")
        if "unreadable" in obj:
            return error(ident, "Unreadable", obj["unreadable"], "invalid")
        try:
            if a.create:
                answer = self.client.create(obj, True, a.field_manager, a.namespace)
            else:
                answer = self.client.apply(obj, not a.commit, a.field_manager, a.namespace)
        except UnknownKindError as e:
            return error(ident, "NoKindMatch", str(e), "invalid")
        except (AttributeError, TypeError) as e:
            return error(ident, "NotAnObject", str(e), "invalid")
        except (OSError, ValueError) as e:
            return error(ident, "Transport", str(e))
        return result(ident, answer, a.show)

    def ask_update(self, ident: str, old: dict, new: dict) -> dict:
        """Create old for real, update it to new in a dry run, delete it."""
        a, made = self.args, None
        try:
            answer = (self.client.create if a.put else self.client.apply)(old, False, a.field_manager, a.namespace)
            if not answer.ok:
                return error(ident, "OldRefused", answer.body.get("message", ""))
            made = answer.body
            time.sleep(a.settle)
            for _ in range(5):
                if a.put:
                    live = self.client.get(self.client.path(made, a.namespace)).must()
                    keep = {k: live["metadata"][k] for k in ("name", "resourceVersion", "uid")}
                    body = {**new, "metadata": {**(new.get("metadata") or {}), **keep}}
                    answer = self.client.update(body, True, a.field_manager, a.namespace)
                else:
                    answer = self.client.apply(new, True, a.field_manager, a.namespace)
                if answer.code != 409:
                    break
            return result(ident, answer, a.show)
        except UnknownKindError as e:
            return error(ident, "NoKindMatch", str(e), "invalid")
        except (OSError, ValueError, RuntimeError) as e:
            return error(ident, "Transport", str(e))
        finally:
            if made is not None:
                self.remove(made)

    def ask_reconcile(self, ident: str, obj: dict) -> dict:
        """Create for real, let the controllers act, and add the warnings they raise; delete."""
        a = self.args
        verdict = self.ask(ident, obj)
        if verdict["verdict"] != "valid":
            return verdict
        try:
            answer = self.client.apply(obj, False, a.field_manager, a.namespace)
            if not answer.ok:
                return result(ident, answer, a.show)
        except (UnknownKindError, OSError) as e:
            return error(ident, "Transport", str(e))
        made = answer.body
        try:
            time.sleep(a.reconcile)
            live = self.client.get(self.client.path(made, a.namespace))
            verdict["later"] = self.warnings(made)
            if a.show and live.ok:
                verdict["object"] = live.body
        finally:
            self.remove(made)
        return verdict

    def warnings(self, obj: dict) -> list[dict]:
        """Warning events about the object, or about what it owns by name."""
        meta = obj["metadata"]
        events = self.client.get(f"/api/v1/namespaces/{meta.get('namespace') or 'default'}/events").must()["items"]
        seen = {}
        for e in events:
            about = e["involvedObject"]
            if e.get("type") == "Warning" and (
                about.get("uid") == meta["uid"] or about.get("name", "").startswith(meta["name"] + "-")
            ):
                seen[about["kind"], e["reason"], e["message"]] = None
        return [{"kind": k, "reason": r, "message": m} for k, r, m in seen]

    def remove(self, obj: dict) -> None:
        """Delete an object, and its finalizers where they keep it."""
        self.client.delete(obj, self.args.namespace)
        path = self.client.path(obj, self.args.namespace)
        for _ in range(20):
            live = self.client.get(path)
            if live.code == 404:
                return
            if live.ok and live.body["metadata"].get("finalizers"):
                self.client.request("PATCH", path, {"metadata": {"finalizers": None}}, "application/merge-patch+json")
            time.sleep(0.05)


def pairs(old: str, new: str):
    """Return old and new objects side by side."""
    olds, news = list(read(old)), list(read(new))
    if len(olds) != len(news):
        raise SystemExit(f"{len(olds)} old objects, {len(news)} new ones")
    return [(ident, o, n) for (_, o), (ident, n) in zip(olds, news, strict=True)]


def main() -> int:
    """Ask, and print a line for each object; return 1 where the server could not say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="*", metavar="PATH", help="file, folder, .jsonl, or - for JSON lines")
    parser.add_argument("--create", action="store_true", help="POST instead of server-side apply")
    parser.add_argument("--update", nargs=2, metavar=("OLD", "NEW"), help="create OLD, dry-run NEW over it, delete")
    parser.add_argument("--put", action="store_true", help="--update by POST and PUT, not server-side apply")
    parser.add_argument("--settle", type=float, default=0, metavar="S", help="seconds between the two of --update")
    parser.add_argument(
        "--reconcile",
        type=float,
        metavar="S",
        help="create for real, wait, add the controllers' warnings as `later`, delete; needs a full `up`",
    )
    parser.add_argument("--commit", action="store_true", help="apply for real")
    parser.add_argument("--show", action="store_true", help="add the object as the server would store it")
    parser.add_argument("--namespace", default="default", help="of objects that name none")
    parser.add_argument(
        "--namespace-labels",
        action="store_true",
        help="give namespaces made on demand the labels of a Namespace object in the batch",
    )
    parser.add_argument("--field-manager", default="trainyard")
    parser.add_argument("--threads", type=int, default=6)
    parser.add_argument("--name", default="default", help="which cluster")
    parser.add_argument("--kubeconfig", type=Path)
    parser.add_argument("--summary", action="store_true", help="counts and rate on stderr at the end")
    args = parser.parse_args()
    run = paths.run_dir(args.name)
    kubeconfig = args.kubeconfig or run / "kubeconfig"
    if not kubeconfig.exists():
        raise SystemExit("nothing runs: ./up first")
    client = Client(kubeconfig)
    client.discover()
    asker = Asker(client, args, bool(args.kubeconfig) or Processes(run).alive("kube-controller-manager"))
    if args.update:
        work = pairs(*args.update)
        asker.ensure_namespaces([(i, o) for i, o, _ in work] + [(i, n) for i, _, n in work])
        call, threads = asker.ask_update, 1
    else:
        if not args.sources:
            parser.error("nothing to read")
        work = [item for source in args.sources for item in read(source)]
        asker.ensure_namespaces(work)
        call, threads = asker.ask, 1 if args.commit else args.threads
        if args.reconcile is not None:
            call, threads = asker.ask_reconcile, 16
    begin, counts = time.monotonic(), Counter()
    with ThreadPoolExecutor(threads) as pool:
        for out in pool.map(lambda item: call(*item), work):
            counts[out["verdict"]] += 1
            print(json.dumps(out, separators=(",", ":")))
    seconds = time.monotonic() - begin
    if args.summary:
        print(f"{dict(counts)} in {seconds:.1f} s, {len(work) / max(seconds, 1e-9):.0f}/s", file=sys.stderr)
    return 1 if counts["error"] else 0
