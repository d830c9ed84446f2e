"""A small API client: kept-alive connections, one per thread; discovery; paths of objects."""

import http.client
import json
import ssl
import threading
import time
import urllib.parse
from pathlib import Path

import yaml

APPLY = "application/apply-patch+yaml"
DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


class UnknownKindError(Exception):
    """The server does not serve this apiVersion and kind."""


class Response:
    """An answer of the server: its code, its body and its warnings."""

    def __init__(self, code: int, body: bytes, warnings: list[str]):
        self.code, self.raw, self.warnings = code, body, warnings

    @property
    def ok(self) -> bool:
        """Whether the server did as asked."""
        return 200 <= self.code < 300

    @property
    def body(self):
        """The answer as JSON; a text becomes its message."""
        try:
            return json.loads(self.raw)
        except ValueError:
            return {"message": self.raw.decode(errors="replace")}

    def must(self):
        """Return the body, or raise what the server said."""
        if not self.ok:
            raise RuntimeError(f"{self.code}: {self.body.get('message', self.body)}")
        return self.body


class Client:
    """A connection to one server, for several threads."""

    def __init__(self, kubeconfig: Path):
        config = yaml.safe_load(Path(kubeconfig).read_text())
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        url = urllib.parse.urlparse(cluster["server"])
        self.host, self.port = url.hostname, url.port
        self.tls = ssl.create_default_context(cafile=cluster["certificate-authority"])
        self.tls.load_cert_chain(user["client-certificate"], user["client-key"])
        self.local = threading.local()
        self.kinds: dict[tuple[str, str], dict] = {}
        self.discovered = 0.0
        self.lock = threading.Lock()

    def request(
        self, method: str, path: str, body=None, content="application/json", accept="application/json", timeout=60
    ) -> Response:
        """Send one request; try again once where the connection was closed."""
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body, separators=(",", ":"))
        if isinstance(body, str):
            body = body.encode()
        headers = {"Accept": accept, "User-Agent": "oracle"}
        if body is not None:
            headers["Content-Type"] = content
        for attempt in (1, 2):
            conn = getattr(self.local, "conn", None)
            if conn is None:
                conn = http.client.HTTPSConnection(self.host, self.port, context=self.tls, timeout=timeout)
                self.local.conn = conn
            try:
                conn.request(method, path, body, headers)
                answer = conn.getresponse()
                data = answer.read()
                return Response(answer.status, data, answer.headers.get_all("Warning") or [])
            except (http.client.HTTPException, OSError):
                conn.close()
                self.local.conn = None
                if attempt == 2:
                    raise
        raise AssertionError

    def get(self, path: str) -> Response:
        """Read one path."""
        return self.request("GET", path)

    def ready(self, seconds: float) -> None:
        """Wait until the server says that it is ready."""
        end = time.monotonic() + seconds
        while True:
            try:
                if self.request("GET", "/readyz", timeout=5).code == 200:
                    return
            except OSError:
                pass
            if time.monotonic() > end:
                raise TimeoutError("kube-apiserver is not ready")
            time.sleep(0.1)

    def discover(self) -> None:
        """Read which kinds the server serves, and under which paths."""
        kinds = {}
        for root in ("/api", "/apis"):
            for group in self.request("GET", root, accept=DISCOVERY).must()["items"]:
                name = group["metadata"].get("name", "")
                for version in group.get("versions", ()):
                    gv = f"{name}/{version['version']}" if name else version["version"]
                    for resource in version.get("resources", ()):
                        kind = resource.get("responseKind") or {}
                        kinds.setdefault(
                            (gv, kind.get("kind", "")),
                            {
                                "path": f"{'/apis' if name else '/api'}/{gv}",
                                "plural": resource["resource"],
                                "namespaced": resource["scope"] == "Namespaced",
                                "verbs": resource["verbs"],
                            },
                        )
        self.kinds, self.discovered = kinds, time.monotonic()

    def kind(self, api_version: str, kind: str) -> dict:
        """Return the path, plural and verbs of a kind; ask the server again where it is unknown."""
        found = self.kinds.get((api_version, kind))
        if found is None:
            with self.lock:
                if time.monotonic() - self.discovered > 5:
                    self.discover()
            found = self.kinds.get((api_version, kind))
        if found is None:
            raise UnknownKindError(f'no matches for kind "{kind}" in version "{api_version}"')
        return found

    def path(self, obj: dict, namespace="default", name=True) -> str:
        """Return the path of an object, or of its kind."""
        kind = self.kind(obj.get("apiVersion") or "", obj.get("kind") or "")
        meta = obj.get("metadata") or {}
        path = kind["path"]
        if kind["namespaced"]:
            path += "/namespaces/" + urllib.parse.quote(str(meta.get("namespace") or namespace))
        path += "/" + kind["plural"]
        if name:
            path += "/" + urllib.parse.quote(str(meta.get("name") or ""))
        return path

    def apply(self, obj: dict, dry_run=False, manager="oracle", namespace="default") -> Response:
        """Server-side apply, or a plain POST for what has only a generateName."""
        meta = obj.get("metadata") or {}
        query = f"?fieldManager={manager}&fieldValidation=Strict" + ("&dryRun=All" if dry_run else "")
        if not meta.get("name") and meta.get("generateName"):
            return self.request("POST", self.path(obj, namespace, name=False) + query, obj)
        return self.request("PATCH", self.path(obj, namespace) + query + "&force=true", obj, APPLY)

    def create(self, obj: dict, dry_run=False, manager="oracle", namespace="default") -> Response:
        """Create an object by POST."""
        query = f"?fieldManager={manager}&fieldValidation=Strict" + ("&dryRun=All" if dry_run else "")
        return self.request("POST", self.path(obj, namespace, name=False) + query, obj)

    def update(self, obj: dict, dry_run=False, manager="oracle", namespace="default") -> Response:
        """Replace an object by PUT."""
        query = f"?fieldManager={manager}&fieldValidation=Strict" + ("&dryRun=All" if dry_run else "")
        return self.request("PUT", self.path(obj, namespace) + query, obj)

    def delete(self, obj: dict, namespace="default", background=True) -> Response:
        """Delete an object, by default at once and what it owns later."""
        query = "?propagationPolicy=Background&gracePeriodSeconds=0" if background else ""
        return self.request("DELETE", self.path(obj, namespace) + query)
