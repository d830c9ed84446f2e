"""Starts one training run and follows it to its end: what a step of a pipeline runs, in an image with Python alone.

The first argument is what `trainyard.faces.pipelines.steps` wrote, the second the id of the pipeline's run. That id
names the training run: a step that is tried again continues what the last try began, and another run of the pipeline is
another training run. When the step is told to end, it deletes what it made.
"""

import base64
import hashlib
import json
import os
import signal
import ssl
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, NoReturn

ACCOUNT = Path(os.environ.get("SERVICE_ACCOUNT_FOLDER", "/var/run/secrets/kubernetes.io/serviceaccount"))
SECONDS = float(os.environ.get("SECONDS_BETWEEN_LOOKS", "10"))
LONGEST = 60
"""Seconds between two tries while the API server does not answer."""

TRIES = 5
"""How often a run is deleted that is not there yet, a second apart."""

SUFFIX = 5
"""Characters of a pipeline run's id in names."""

PIPELINE = "trainyard.dev/pipeline-run"
"""Annotation with the whole id: two ids may have the same five characters."""


class RefusedError(Exception):
    """The API server will not do what the step asks, however often."""


def call(method: str, path: str, body: Any = None) -> dict[str, Any]:
    """Return the API server's answer; raises RefusedError for a final refusal, OSError for a failure to retry."""
    server = f"https://{os.environ['KUBERNETES_SERVICE_HOST']}:{os.environ['KUBERNETES_SERVICE_PORT']}"
    token = (ACCOUNT / "token").read_text().strip()  # the kubelet renews it
    form = "application/merge-patch+json" if method == "PATCH" else "application/json"
    headers = {"Authorization": f"Bearer {token}", "Content-Type": form, "Accept": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(server + path, data=data, headers=headers, method=method)
    context = ssl.create_default_context(cafile=str(ACCOUNT / "ca.crt"))
    try:
        with urllib.request.urlopen(request, timeout=30, context=context) as answer:
            return dict(json.load(answer))
    except urllib.error.HTTPError as error:
        text = error.read().decode(errors="replace")
        if error.code == 429 or error.code >= 500:
            raise OSError(f"{error.code} {text[:300]}") from error
        said = json.loads(text).get("message", text) if text.startswith("{") else text
        raise RefusedError(f"{error.code} {said}") from error


def patient(method: str, path: str, body: Any = None) -> dict[str, Any]:
    """Return the API server's answer, retrying until there is one."""
    wait = 1.0
    while True:
        try:
            return call(method, path, body)
        except OSError as error:
            print(f"the API server does not answer: {error}; retrying in {wait:.0f} seconds", flush=True)
            time.sleep(wait)
            wait = min(LONGEST, 2 * wait)


def suffix(pipeline: str) -> str:
    """Return the characters that stand for a run of the pipeline in names."""
    return base64.b32encode(hashlib.sha256(pipeline.encode()).digest()).decode().lower()[:SUFFIX]


def create(item: dict[str, Any], pipeline: str) -> dict[str, Any]:
    """Return an object, made now or by a try before."""
    value, path = item["object"], item["path"]
    metadata = value["metadata"]
    name = metadata["name"]
    metadata["annotations"] = {**metadata.get("annotations", {}), PIPELINE: pipeline}
    try:
        made = patient("POST", f"{path}?fieldValidation=Strict", value)
        print(f"created {value['kind']} {name}", flush=True)
    except RefusedError as error:
        if not str(error).startswith("409 "):
            raise
        made = patient("GET", f"{path}/{name}")
        if at(made, ["metadata", "annotations", PIPELINE]) != pipeline:
            raise RefusedError(f"{value['kind']} {name} exists, but belongs to another run of the pipeline") from error
        print(f"found {value['kind']} {name} of an earlier try", flush=True)
    return made


def adopt(value: dict[str, Any], owner: dict[str, Any]) -> None:
    """Have the run take an object along when it is deleted."""
    reference = {key: owner[key] for key in ("apiVersion", "kind")} | {
        key: owner["metadata"][key] for key in ("name", "uid")
    }
    path = f"{value['path']}/{value['object']['metadata']['name']}"
    patient("PATCH", path, {"metadata": {"ownerReferences": [reference]}})


def at(value: Any, path: list[str]) -> Any:
    """Return the value at a path, None where there is none."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def end(value: dict[str, Any], ending: dict[str, Any]) -> tuple[bool, str] | None:
    """Return whether it ended well and why, None while it waits or runs."""
    if ending["word"]:
        said = at(value, ending["word"])
        why = at(value, ending["reason"]) if ending["reason"] else ""
        if said == ending["done"] or said in ending["failed"]:
            return said == ending["done"], f"{said} {why or ''}".strip()
        return None
    for item in at(value, ["status", "conditions"]) or []:
        if item.get("status") == "True" and item.get("type") in (ending["done"], *ending["failed"]):
            why = " ".join(str(item[key]) for key in ("reason", "message") if item.get(key))
            return item["type"] == ending["done"], f"{item['type']}: {why}"
    return None


def follow(path: str, ending: dict[str, Any], suspend: list[str]) -> tuple[bool, str]:
    """Return how it ended; it may wait in its queue for as long as it does."""
    state = ""
    while True:
        try:
            value = patient("GET", path)
        except RefusedError as error:
            if str(error).startswith("404 "):
                return False, "somebody deleted it"
            raise
        found = end(value, ending)
        if found is not None:
            return found
        now = "waits in its queue" if suspend and at(value, suspend) else "runs"
        if now != state:
            print(now, flush=True)
            state = now
        time.sleep(SECONDS)


def main() -> NoReturn:
    """Start the run, wait for its end, and end as it did."""
    text, pipeline = sys.argv[1:]
    known = json.loads(text)
    plan = json.loads(text.replace(known["name"], known["name"][:-SUFFIX] + suffix(pipeline)))
    first, *others = plan["objects"]
    name, kind = first["object"]["metadata"]["name"], first["object"]["kind"]
    path = f"{first['path']}/{name}"

    def told(*_: object) -> NoReturn:
        why = ""
        for _try in range(TRIES):
            try:
                call("DELETE", path, {"propagationPolicy": "Background"})
                print(f"stopped: deleted {kind} {name}", flush=True)
                os._exit(143)
            except (OSError, RefusedError) as error:  # it may be on its way only
                why = str(error)
                time.sleep(1)
        print(f"stopped, but could not delete {kind} {name}: {why}", flush=True)
        os._exit(143)

    signal.signal(signal.SIGTERM, told)
    signal.signal(signal.SIGINT, told)
    try:
        for other in others:  # which the run may be refused without
            create(other, pipeline)
        made = create(first, pipeline)
        for other in others:
            adopt(other, made)
        well, why = follow(path, plan["ending"], plan["suspend"])
    except RefusedError as error:
        sys.exit(f"{kind} {name}: the API server answered {error}")
    if not well:
        sys.exit(f"{kind} {name} has failed: {why}")
    print(f"{kind} {name} is done: {why}", flush=True)
    sys.exit(0)


if __name__ == "__main__":
    main()
