"""Show what each operator really does with a job.

That is what the server stores, how Kueue admits it, and what the pods get. Run it after `up --operators all`; the
output has no time in it.

    ./prove            every job of prove.d, one after another, to stdout
    ./prove --check    compare with prove.expected.txt
    ./prove mpijob     only these
"""

import argparse
import difflib
import json
import re
import time

from . import paths
from .api import Client
from .manifests import documents
from .operators import apply_soon

NS = "prove"
HOST = re.compile(r"^(?!example\.com/)[\w-]+(\.[\w-]+)+/")
WORKLOADS = f"/apis/kueue.x-k8s.io/v1beta2/namespaces/{NS}/workloads"
POD_FIELDS = (
    *("hostname", "subdomain", "restartPolicy", "priorityClassName", "serviceAccountName", "setHostnameAsFQDN"),
    *("hostNetwork", "dnsPolicy", "schedulerName"),
)
POD_DEFAULTS = (
    ("dnsPolicy", "ClusterFirst"),
    ("schedulerName", "default-scheduler"),
    ("serviceAccountName", "default"),
)
DERIVED = ("pods", "services", "configmaps", "secrets")
NOISE = re.compile(r"(controller-uid|pod-template-hash|jobset-uid|job-key|hash|-uid)$")
UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
RANDOM = re.compile(r"[bcdfghjklmnpqrstvwxz2456789]{5}$")  # what the server appends to a generateName
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


def flat(value, prefix=""):
    """Leaves by path: a map's keys and a list's indices."""
    if isinstance(value, dict) and value:
        for k in sorted(value):
            yield from flat(value[k], f"{prefix}.{k}" if prefix else k)
    elif isinstance(value, list) and value:
        for i, v in enumerate(value):
            yield from flat(v, f"{prefix}[{i}]")
    else:
        yield prefix, value


def text(value) -> str:
    """Return a value as it is printed."""
    return value if isinstance(value, str) and value and "\n" not in value else json.dumps(value, sort_keys=True)


class Names:
    """Random parts of names, replaced by what they stand for."""

    def __init__(self):
        self.known: dict[str, str] = {}

    def add(self, obj: dict) -> None:
        """Remember the random part of an object's name."""
        name, stem = obj["metadata"]["name"], obj["metadata"].get("generateName")
        if stem and RANDOM.fullmatch(name.removeprefix(stem)):
            self.known[name] = stem + "*"
        replica = (obj["metadata"].get("labels") or {}).get("ray.io/worker-group-replica-name")
        if replica:
            self.known[replica] = RANDOM.sub("*", replica)

    def clean(self, line: str) -> str:
        """Return a line without random names, identifiers and times."""
        for name in sorted(self.known, key=len, reverse=True):
            line = line.replace(name, self.known[name])
        return TIME.sub("<time>", UID.sub("<uid>", line))


class Prover:
    """Creates jobs one after another, and says what became of each."""

    def __init__(self, client: Client):
        self.client = client

    def objects(self, plural: str) -> list[dict]:
        """Return the objects of a kind of Kubernetes' own."""
        return self.client.get(f"/api/v1/namespaces/{NS}/{plural}").must()["items"]

    def settle(self, obj: dict, seconds=90) -> tuple[list, list]:
        """Wait until the workload is admitted and its pods run, and nothing changes for a while."""
        queued = "kueue.x-k8s.io/queue-name" in (obj["metadata"].get("labels") or {})
        end, last, since = time.monotonic() + seconds, None, time.monotonic()
        while time.monotonic() < end:
            loads = self.client.get(WORKLOADS).must()["items"]
            pods = self.objects("pods")
            admitted = (loads or not queued) and all(condition(w, "Admitted") for w in loads)
            wanted = sum(s.get("count", 1) for w in loads for s in w["spec"]["podSets"])
            running = [p for p in pods if p["status"].get("phase") == "Running"]
            now = (len(loads), sorted(p["metadata"]["name"] for p in running))
            if now != last:
                last, since = now, time.monotonic()
            if admitted and pods and len(running) == len(pods) >= wanted and time.monotonic() - since > 1.5:
                return loads, pods
            time.sleep(0.2)
        phases = {p["metadata"]["name"]: p["status"].get("phase") for p in self.objects("pods")}
        raise TimeoutError(f"{obj['kind']}: not running after {seconds} s: {phases}")

    def clear(self, obj: dict) -> None:
        """Delete a job, and wait until all that it made has gone."""
        self.client.delete(obj, NS)
        end = time.monotonic() + 60
        while time.monotonic() < end:
            left = [o for kind in ("pods", "services") for o in self.objects(kind)]
            if (
                not left
                and not self.client.get(WORKLOADS).must()["items"]
                and self.client.get(self.client.path(obj, NS)).code == 404
            ):
                break
            time.sleep(0.2)
        for kind in ("configmaps", "secrets"):
            for o in self.objects(kind):
                if o["metadata"]["name"] != "kube-root-ca.crt":
                    self.client.request("DELETE", f"/api/v1/namespaces/{NS}/{kind}/{o['metadata']['name']}")
        time.sleep(1)

    def prove(self, obj: dict) -> list[str]:
        """Return the outcome of a job, a line for each fact."""
        names = Names()
        stored = self.client.apply(obj, dry_run=True, namespace=NS).must()
        self.client.apply(obj, namespace=NS).must()
        try:
            loads, pods = self.settle(obj)
            live = self.client.get(self.client.path(obj, NS)).must()
            derived = {kind: self.objects(kind) for kind in DERIVED}
        finally:
            self.clear(obj)
        for o in [*pods, *loads]:
            names.add(o)
        status = live.get("status") or {}
        if status.get("rayClusterName"):
            names.known[status["rayClusterName"]] = f"{obj['metadata']['name']}-<cluster>"
            names.known[status["jobId"]] = f"{obj['metadata']['name']}-<id>"
        for load in loads:
            names.known[load["metadata"]["name"]] = re.sub(r"-[0-9a-f]{5}$", "-<hash>", load["metadata"]["name"])
        lines = [f"===== {obj['apiVersion']} {obj['kind']} {obj['metadata']['name']}", "stored, beyond what was sent:"]
        lines += self.defaults(obj, stored)
        for load in loads:
            lines += self.admission(load)
        lines = [names.clean(line) for line in lines]
        for block in sorted([names.clean(line) for line in self.pod(p)] for p in pods):
            lines += block
        return lines + sorted(names.clean(line) for line in self.others(derived))

    @staticmethod
    def defaults(sent: dict, stored: dict):
        """Yield the fields that the server stores beyond those that were sent."""
        skip = ("metadata.managedFields", "metadata.uid", "metadata.creationTimestamp", "metadata.generation", "status")
        before = dict(flat(sent))
        for path, value in flat(stored):
            if path.startswith(skip) or before.get(path, ...) == value or "controller-uid" in path:
                continue
            if path not in before:
                yield f"  {path}: {text(value)}"
            else:  # 4 and "4" are one quantity, but not one value
                yield f"  {path}: {json.dumps(value)}   (sent: {json.dumps(before[path])})"
        for path in sorted(set(before) - {p for p, _ in flat(stored)}):
            if before[path] not in ({}, []):
                yield f"  {path}: dropped   (sent: {text(before[path])})"

    @staticmethod
    def admission(load: dict):
        """Yield how Kueue admitted a workload."""
        admission = load["status"]["admission"]
        yield f"workload {load['metadata']['name']}: clusterQueue {admission['clusterQueue']}"
        for spec, a in zip(load["spec"]["podSets"], admission["podSetAssignments"], strict=True):
            usage = ", ".join(f"{k} {v}" for k, v in sorted(a.get("resourceUsage", {}).items()))
            flavors = ",".join(sorted(set(a.get("flavors", {}).values())))
            yield f"  podSet {a['name']}: count {a.get('count')}, flavor {flavors}, uses {usage}"
            request = spec.get("topologyRequest")
            if request:
                yield f"    topologyRequest: {text(request)}"
            if a.get("topologyAssignment"):
                yield f"    topologyAssignment: {text(a['topologyAssignment'])}"
        yield "  conditions: " + ", ".join(
            f"{c['type']}={c['status']}" for c in sorted(load["status"]["conditions"], key=lambda c: c["type"])
        )

    def pod(self, pod: dict):
        """Yield the fields of a pod as it runs."""
        meta, spec = pod["metadata"], pod["spec"]
        if spec.get("schedulerName") == "volcano":  # its plugins run in any order
            for part in (spec, *spec["containers"]):
                for key in ("env", "volumes", "volumeMounts"):
                    part[key] = sorted(part.get(key) or (), key=lambda e: e["name"])
        labels = meta.get("labels") or {}
        yield f"pod {meta['name']}: {pod['status']['phase']}"
        for key in POD_FIELDS:
            if key in spec and (key, spec[key]) not in POD_DEFAULTS:
                yield f"  {key}: {spec[key]}"
        yield from self.labelled(meta, labels)
        for key, value in sorted((spec.get("nodeSelector") or {}).items()):
            yield f"  nodeSelector {key}={value}"
        if spec.get("affinity"):
            yield f"  affinity {text(spec['affinity'])}"
        for volume in spec.get("volumes") or ():
            if not volume["name"].startswith("kube-api-access"):
                yield f"  volume {text(volume)}"
        for field in ("initContainers", "containers"):
            for c in spec.get(field) or ():
                yield from self.container(field[:-1], c)

    @staticmethod
    def labelled(meta: dict, labels: dict):
        """Yield labels and annotations, without those that are random."""
        for key, value in sorted(labels.items()):
            if not NOISE.search(key):
                yield f"  label {key}={value}"
        for key, value in sorted((meta.get("annotations") or {}).items()):
            if not NOISE.search(key) and labels.get(key) != value:
                yield f"  annotation {key}={text(value)}"
        same = [k for k, v in (meta.get("annotations") or {}).items() if labels.get(k) == v and not NOISE.search(k)]
        if same:
            yield f"  {len(same)} annotations repeat labels"

    @staticmethod
    def container(kind: str, c: dict):
        """Yield the fields of a container as it runs."""
        yield f"  {kind} {c['name']}: image {HOST.sub('', c['image'])}"
        for key in ("command", "args", "securityContext", "readinessProbe", "livenessProbe", "startupProbe"):
            if c.get(key):
                yield f"    {key} {text(c[key])}"
        for port in c.get("ports") or ():
            yield "    port " + " ".join(
                filter(None, (port.get("name"), f"{port['containerPort']}/{port['protocol']}"))
            )
        for env in c.get("env") or ():
            source = env.get("valueFrom")
            yield f"    env {env['name']}={text(env.get('value', '')) if not source else text(source)}"
        for mount in c.get("volumeMounts") or ():
            if not mount["name"].startswith("kube-api-access"):
                yield f"    mount {mount['mountPath']} of {mount['name']}" + (
                    f" subPath {mount['subPath']}" if mount.get("subPath") else ""
                )

    @staticmethod
    def others(derived: dict[str, list]):
        """Yield the Services, ConfigMaps and Secrets that were made."""
        for s in derived["services"]:
            ports = ", ".join(f"{p.get('name', '')} {p['port']}" for p in s["spec"].get("ports") or ())
            ip = "headless" if s["spec"].get("clusterIP") == "None" else s["spec"]["type"]
            extra = " publishNotReadyAddresses" if s["spec"].get("publishNotReadyAddresses") else ""
            selector = text(s["spec"].get("selector"))
            yield f"service {s['metadata']['name']}: {ip}{extra}; ports {ports or '-'}; selector {selector}"
        for c in derived["configmaps"]:
            if c["metadata"]["name"] == "kube-root-ca.crt":
                continue
            for key, value in sorted((c.get("data") or {}).items()):
                body = json.dumps(value) if len(value) < 600 else f"{len(value)} characters"
                if key == "runtime":
                    body = "(a copy of the runtime)"
                yield f"configmap {c['metadata']['name']}[{key}]: {body}"
        for s in derived["secrets"]:
            yield f"secret {s['metadata']['name']}: type {s['type']}, keys {', '.join(sorted(s.get('data') or {}))}"


def condition(obj: dict, kind: str) -> bool:
    """Whether a condition of an object is true."""
    return any(c["type"] == kind and c["status"] == "True" for c in (obj.get("status") or {}).get("conditions") or ())


def main() -> int:
    """Print what became of each job, or compare with what is expected."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("only", nargs="*", help="names of files in prove.d, without .yaml")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--name", default="default", help="which cluster")
    args = parser.parse_args()
    kubeconfig = paths.run_dir(args.name) / "kubeconfig"
    if not kubeconfig.exists():
        raise SystemExit("nothing runs: ./up --operators all first")
    client = Client(kubeconfig)
    folder = paths.HERE / "prove.d"
    for doc in documents(folder / "00-queue.yaml"):
        apply_soon(client, doc)
    end = time.monotonic() + 30
    queue = "/apis/kueue.x-k8s.io/v1beta2/clusterqueues/prove"
    while not condition(client.get(queue).must(), "Active") and time.monotonic() < end:
        time.sleep(0.2)
    prover, out = Prover(client), []
    files = [
        p for p in sorted(folder.glob("*.yaml")) if p.name != "00-queue.yaml" and (not args.only or p.stem in args.only)
    ]
    failed = False
    for path in files:
        for doc in documents(path):
            try:
                lines = prover.prove(doc)
            except (TimeoutError, RuntimeError) as e:
                lines, failed = [f"===== {doc['kind']} {doc['metadata']['name']}: FAILED {e}"], True
            out += lines
            if not args.check:
                print("\n".join(lines), flush=True)
    if args.check:
        wanted = (paths.HERE / "prove.expected.txt").read_text().splitlines()
        diff = list(difflib.unified_diff(wanted, out, "expected", "now", lineterm=""))
        print("\n".join(diff) if diff else f"{len(files)} jobs as expected")
        failed = failed or bool(diff)
    return 1 if failed else 0
