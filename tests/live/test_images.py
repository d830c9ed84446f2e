"""What a registry says of images, read of a server in this process, and stated in job files."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from make import JOB, write_repository
from trainyard.base.errors import SpecError, ToolError
from trainyard.faces.cli import images
from trainyard.faces.live.image_software import software_of
from trainyard.faces.live.registry import Registries
from trainyard.specs.editing.images import state_software
from trainyard.specs.load import read_repository

NVIDIA = "cuda>=13.0 brand=tesla,driver>=535,driver<536 brand=geforce,driver>=535,driver<536 brand=tesla,driver>=570"
CONFIGURATIONS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "NVIDIA's base": (
        {"Env": ["PATH=/bin", "CUDA_VERSION=13.0.1", f"NVIDIA_REQUIRE_CUDA={NVIDIA}"]},
        {"cuda": "13.0", "olderDrivers": [535, 570]},
    ),
    "a requirement alone": ({"Env": ["NVIDIA_REQUIRE_CUDA=cuda>=12.8"]}, {"cuda": "12.8"}),
    "AMD's base": ({"Env": ["ROCM_VERSION=7.0.2"]}, {"rocm": "7.0"}),
    "a label": ({"Labels": {"ROCM_VERSION": "6.4"}}, {"rocm": "6.4"}),
    "nothing": ({"Env": ["PATH=/bin"]}, {}),
    "no variables": ({"Env": None, "Labels": None}, {}),
    "odd words": ({"Env": ["CUDA_VERSION=latest", 7, "NVIDIA_REQUIRE_CUDA="]}, {}),
}


@pytest.mark.parametrize(("config", "software"), CONFIGURATIONS.values(), ids=CONFIGURATIONS)
def test_software_is_read_of_variables_and_labels(config, software):
    """Only older branches for data center GPUs count, and what says nothing is nothing."""
    assert software_of(config) == software


def put(store: dict[str, bytes], value: Any) -> str:
    """Store a document and return its digest."""
    data = json.dumps(value).encode()
    digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
    store[digest] = data
    return digest


@pytest.fixture
def registry():
    """A registry on this machine that wants a token, with its documents by digest and the paths that were asked."""
    store: dict[str, bytes] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            """Answer with a token, a document or a challenge."""
            host = self.headers["Host"]
            digest = self.path.rpartition("/")[2]
            if self.path.startswith("/token"):
                login = self.headers.get("Authorization")
                self.answer(200, json.dumps({"token": "open" if login == LOGIN else "closed"}).encode())
            elif self.headers.get("Authorization") != "Bearer open":
                challenge = f'Bearer realm="http://{host}/token",service="r",scope="repository:nlp/llm:pull"'
                self.answer(401, b"", {"WWW-Authenticate": challenge})
            else:
                self.answer(200 if digest in store else 404, store.get(digest, b""))

        def answer(self, code, data, headers=None):
            """Send an answer."""
            self.send_response(code)
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_):
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"127.0.0.1:{server.server_port}", store
    server.shutdown()
    thread.join()
    server.server_close()


LOGIN = f"Basic {base64.b64encode(b'me:secret').decode()}"


def push(store: dict[str, bytes], env: list[str]) -> str:
    """Store an image for one platform, with an attestation beside it as builders make, and return its digest."""
    config = put(store, {"config": {"Env": env}})
    manifest = put(store, {"config": {"digest": config}})
    other = {"digest": "sha256:" + 64 * "0", "platform": {"os": "unknown", "architecture": "unknown"}}
    one = {"digest": manifest, "platform": {"os": "linux", "architecture": "amd64"}}
    return put(store, {"manifests": [other, one]})


def test_jobs_state_what_the_registry_says(registry, tmp_path, monkeypatch, capsys):
    """A file that says nothing is completed, one that says something else makes the command fail, its run stays."""
    host, store = registry
    (tmp_path / "docker").mkdir()
    auth = {"auths": {f"https://{host}/v1/": {"auth": LOGIN.partition(" ")[2]}, "other": {"auth": "?"}}}
    (tmp_path / "docker/config.json").write_text(json.dumps(auth))
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path / "docker"))
    name = f"{host}/nlp/llm@{push(store, ['CUDA_VERSION=12.8.1'])}"
    wrong = {"name": name, "cuda": "12.4"}
    found = {"nlp/train": {**JOB, "image": name}, "nlp/wrong": {**JOB, "image": wrong}}
    root = write_repository(tmp_path / "repository", jobs=found)
    assert images.command(["nlp/train"], write=True, root=root) == 0
    job = next(file.job for file in read_repository(root).specs.jobs if file.name == "train")
    assert job.image.model_dump(exclude_unset=True) == {"name": name, "cuda": "12.8"}
    assert images.command(["nlp/train"], write=False, root=root) == 0
    assert images.command(None, write=True, root=root) == 1
    assert "the image has cuda 12.8, but the file says {'cuda': '12.4'}; correct it" in capsys.readouterr().out


def test_a_registry_that_refuses_is_told(registry):
    """Without a login, with a digest that is not there, and with a content of another digest."""
    host, store = registry
    digest = push(store, [])
    with pytest.raises(ToolError, match="answers 401"):
        Registries().configuration(f"{host}/nlp/llm@{digest}")
    open_ = Registries({host: LOGIN.partition(" ")[2]})
    with pytest.raises(ToolError, match="answers 404; check the image's name and digest"):
        open_.configuration(f"{host}/nlp/llm@sha256:{64 * 'a'}")
    store[f"sha256:{64 * 'b'}"] = b"{}"
    with pytest.raises(ToolError, match="has another digest"):
        open_.configuration(f"{host}/nlp/llm@sha256:{64 * 'b'}")


def test_a_file_keeps_its_comments():
    """Only the line of the image changes; a file that is one line is a person's to edit."""
    text = "# mine\nimage: r/x@sha256:1  # pinned\nnodes: 2\n"
    made = state_software(text, "a.yaml", {"cuda": "12.10", "olderDrivers": [535]})
    assert made == ('# mine\nimage: {name: r/x@sha256:1, cuda: "12.10", olderDrivers: [535]}  # pinned\nnodes: 2\n')
    with pytest.raises(SpecError, match="cannot be edited automatically; write image: "):
        state_software("{image: r/x@sha256:1}\n", "a.yaml", {"cuda": "12.8"})
