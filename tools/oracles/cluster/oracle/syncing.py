"""A real Argo CD on a running `up`: start | apply FILE... | apps | stop."""

import argparse
import json
import time
from pathlib import Path

import yaml

from . import argocd, paths
from .components import ARGOCD, ARGOCDS


def documents(files):
    """Yield the documents of files and folders."""
    for path in map(Path, files):
        for file in sorted(path.rglob("*.yaml")) if path.is_dir() else [path]:
            yield from (d for d in yaml.safe_load_all(file.read_text()) if d)


def main() -> int:
    """Start, feed, ask or stop Argo CD."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", default="default", help="of the cluster")
    verbs = parser.add_subparsers(dest="verb", required=True)
    start = verbs.add_parser("start", help="CRDs, an open default project, redis, repo server, application controller")
    start.add_argument("--release", default=ARGOCD, choices=ARGOCDS)
    start.add_argument("--resync", type=int, default=10, help="seconds between looks at Git")
    apply = verbs.add_parser(
        "apply", help="Applications and AppProjects, their repository and cluster turned to what is here"
    )
    apply.add_argument("files", nargs="+")
    apply.add_argument(
        "--repo",
        default="",
        help="file:///path of a local Git repository, in place of every repoURL that is no chart's",
    )
    apps = verbs.add_parser("apps", help="refresh, wait until nothing moves, print one JSON line per Application")
    apps.add_argument("--wait", type=float, default=60, help="seconds at most")
    apps.add_argument(
        "--short", action="store_true", help="a line of text each, and the resources that are not Synced and Healthy"
    )
    verbs.add_parser("stop")
    args = parser.parse_args()
    run = paths.run_dir(args.name)
    if args.verb == "stop":
        print(f"stopped {argocd.stop(run)} processes")
        return 0
    if args.verb == "start":
        begin = time.monotonic()
        argocd.start(run, args.resync, args.release)
        print(f"Argo CD {args.release} runs, {time.monotonic() - begin:.0f} s")
        return 0
    client = argocd.client_of(run)
    if args.verb == "apply":
        for doc in documents(args.files):
            argocd.apply(client, argocd.localised(doc, args.repo))
            print(f"applied {doc['kind']} {doc['metadata']['name']}")
        return 0
    return report(client, args)


def report(client: argocd.Client, args: argparse.Namespace) -> int:
    """Refresh every Application, wait until nothing moves, and print what came of it; 1 where one is not Synced."""
    for app in argocd.applications(client):
        argocd.refresh(client, app["metadata"]["name"])
    end = time.monotonic() + args.wait
    while True:
        time.sleep(1)
        found = argocd.applications(client)
        if all(map(argocd.settled, found)) or time.monotonic() > end:
            break
    good = True
    for app in found:
        line = argocd.summary(app)
        good &= line["sync"] == "Synced" and not line["conditions"]
        if not args.short:
            print(json.dumps(line))
            continue
        print(f"{line['name']}: {line['sync']}, {line['health']}, {line['operation']}: {line['message']}")
        for text in line["conditions"]:
            print(f"  ! {text[:300]}")
        for r in line["resources"]:
            if r["status"] != "Synced" or r["health"] not in (None, "Healthy"):
                print(f"  {r['kind']} {r['namespace'] or ''}/{r['name']}: {r['status']}, {r['health']}")
    return 0 if good else 1
