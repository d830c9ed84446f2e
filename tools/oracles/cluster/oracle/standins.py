"""Stand-ins for kubelets and the service network: programs of operators, and the way from the server to them."""

import asyncio
import base64
import contextlib
import signal
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from .api import Client
from .certs import openssl
from .completing import complete
from .components import LOCAL, OPERATORS, V1_SCHEMES
from .operators import fill
from .procs import Processes
from .programs import DEPLOYMENTS, FILES, PROGRAMS, passed_on, program

UNCERTIFIED = {"training-operator": "validator.training-operator.kubeflow.org"}
"""Operators whose program here makes no certificate of its own, with their webhook configuration."""

MOUNTS = """
mount -t tmpfs none /run; mkdir -p "$2"; cp "$1"/* "$2"
mount -t tmpfs none /tmp; mkdir -p "$3"; mount --bind "$0" "$3"
shift 3; exec "$@"
"""
INSIDE = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-ec", MOUNTS)
"""Starts a program that finds its service account where a pod does, and nobody else sees it there."""

MOUNTED = "/run/secrets/kubernetes.io/serviceaccount"
"""Where a pod finds its service account."""

CERTIFICATES = "/tmp/k8s-webhook-server/serving-certs"
"""Where a pod finds the certificate of its webhooks; some operators look nowhere else."""

OWN = "operators"
"""Folder of the operators' processes; their state is apart, since two programs write no one file."""

Object = dict[str, Any]


@dataclass
class Standins:
    """One cluster's: its folder, what it was told, and what runs."""

    run: Path
    told: Object
    client: Client
    procs: Processes
    running: dict[str, Path] = field(default_factory=dict)
    """The programs that were started."""

    def watch(self) -> None:
        """Start what has a running pod, stop what has none, and keep mounted Secrets as they are in the cluster."""
        listed = self.client.get("/apis/apps/v1/deployments").must()["items"]
        ready = {
            DEPLOYMENTS[item["metadata"]["name"]]: item
            for item in listed
            if item["metadata"]["name"] in DEPLOYMENTS and item.get("status", {}).get("readyReplicas")
        }
        for operator in PROGRAMS:
            if operator not in ready and self.procs.alive(operator):
                self.procs.stop((operator,))
        for operator, deployment in ready.items():
            self.mount(operator, deployment)
            if self.procs.alive(operator) and self.running.get(operator) != program(operator, deployment):
                self.procs.stop((operator,))
            if not self.procs.alive(operator):
                self.start(operator, deployment)

    def home(self, operator: str) -> Path:
        """Return the folder of an operator's process."""
        return self.procs.run / operator

    def certificates(self, operator: str) -> Path:
        """Return the folder of its serving certificate."""
        return self.home(operator) / "serving-certs"

    def settings(self, operator: str) -> Path:
        """Return the folder of the files of its ConfigMaps."""
        return self.home(operator) / "settings"

    def mount(self, operator: str, deployment: Object) -> None:
        """Write the Secrets and ConfigMaps of its pod to disk, as a kubelet does."""
        folder, settings = self.certificates(operator), self.settings(operator)
        folder.mkdir(parents=True, exist_ok=True)
        settings.mkdir(parents=True, exist_ok=True)
        for volume in deployment["spec"]["template"]["spec"].get("volumes", []):
            if name := volume.get("secret", {}).get("secretName"):
                for key, value in self.contents(deployment, "secrets", name).items():
                    keep(folder / key, base64.b64decode(value))
            if name := volume.get("configMap", {}).get("name"):
                for key, value in self.contents(deployment, "configmaps", name).items():
                    keep(settings / key, value.encode())
        if operator in UNCERTIFIED:
            self.certify(operator, deployment)

    def contents(self, deployment: Object, plural: str, name: str) -> dict[str, str]:
        """Return the data of a Secret or a ConfigMap beside a Deployment, nothing where it is not there yet."""
        answer = self.client.get(f"/api/v1/namespaces/{namespace_of(deployment)}/{plural}/{name}")
        return (answer.body.get("data") or {}) if answer.ok else {}

    def start(self, operator: str, deployment: Object) -> None:
        """Start its program, with the configuration of its ConfigMap and the rights of its service account."""
        known, home = PROGRAMS[operator], self.home(operator)
        home.mkdir(parents=True, exist_ok=True)
        ports = self.told["ports"][operator]
        values = {
            "webhook": ports["webhook"],
            "health": f"{LOCAL}:{ports['health']}",
            "certs": CERTIFICATES,
            "config": str(home / "config.yaml"),
            "ca": f"{CERTIFICATES}/ca.crt",
            "settings": str(self.settings(operator)),
            "kubeconfig": "",
        }
        if known.config:
            own = fill(known.config, values)
            (home / "config.yaml").write_text(yaml.safe_dump(self.configuration(operator, deployment, own)))
        schemes = [f"--enable-scheme={scheme}" for scheme in V1_SCHEMES]
        arguments = [word for arg in known.args for word in (schemes if arg == "{schemes}" else [arg.format(**values)])]
        arguments += [*(arg.format(**values) for arg in FILES.get(operator, ())), *passed_on(deployment)]
        host, port = self.told["server"].removeprefix("https://").split(":")
        environment = {
            "KUBERNETES_SERVICE_HOST": host,
            "KUBERNETES_SERVICE_PORT": port,
            "TMPDIR": "/tmp",
            "GOMAXPROCS": "2",
            "POD_NAMESPACE": namespace_of(deployment),
            "DEBUG_SOCKET_DIR": "/tmp",
        }
        account = self.account(operator, deployment)
        mounts = [str(self.certificates(operator)), str(account), MOUNTED, CERTIFICATES]
        self.running[operator] = program(operator, deployment)
        inside = [*INSIDE, *mounts, str(self.running[operator]), *arguments]
        self.procs.start(operator, inside, environment)
        print(f"{time.strftime('%H:%M:%S')} started {self.running[operator].name}", flush=True)

    def configuration(self, operator: str, deployment: Object, own: Object) -> Object:
        """Return the configuration that the chart gives, with addresses of this machine."""
        given: Object = {}
        for volume in deployment["spec"]["template"]["spec"].get("volumes", []):
            if name := volume.get("configMap", {}).get("name"):
                path = f"/api/v1/namespaces/{namespace_of(deployment)}/configmaps/{name}"
                data = self.client.get(path).must().get("data") or {}
                given = next((yaml.safe_load(text) for text in data.values()), {})
        kept = {key: own[key] for key in ("apiVersion", "kind", "health", "metrics", "webhook", "leaderElection")}
        ports = self.told["ports"][operator]
        shown = {"visibilityServer": {"bindAddress": LOCAL, "bindPort": ports["visibility"]}}
        return {**given, **kept, **(shown if operator == "kueue" else {})}

    def account(self, operator: str, deployment: Object) -> Path:
        """Write what a pod finds of its service account, whose rights are those of the chart; return the folder."""
        namespace, pod = namespace_of(deployment), deployment["spec"]["template"]["spec"]
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{pod.get('serviceAccountName', 'default')}/token"
        asked = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 86400}}
        token = self.client.request("POST", path, asked).must()["status"]["token"]
        folder = self.home(operator) / "serviceaccount"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "token").write_text(token)
        (folder / "namespace").write_text(namespace)
        (folder / "ca.crt").write_bytes((self.run / "pki/ca.crt").read_bytes())
        return folder

    def certify(self, operator: str, deployment: Object) -> None:
        """Give it a certificate, and its webhook configuration the authority, where the program does neither."""
        folder, name = self.certificates(operator), UNCERTIFIED[operator]
        if not (folder / "tls.crt").exists():
            host = f"{OPERATORS[operator].service}.{namespace_of(deployment)}.svc"
            openssl(
                *("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", f"/CN={host}"),
                *("-addext", f"subjectAltName=DNS:{host}"),
                *("-keyout", str(folder / "tls.key"), "-out", str(folder / "tls.crt")),
            )
        authority = base64.b64encode((folder / "tls.crt").read_bytes()).decode()
        path = f"/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/{name}"
        answer = self.client.get(path)
        if not answer.ok:
            return
        hooks = answer.body["webhooks"]
        if any(hook["clientConfig"].get("caBundle") != authority for hook in hooks):
            patches = [
                {"op": "add", "path": f"/webhooks/{number}/clientConfig/caBundle", "value": authority}
                for number in range(len(hooks))
            ]
            self.client.request("PATCH", path, patches, "application/json-patch+json").must()

    def port(self, address: str) -> int | None:
        """Return the port of the program behind the address of a Service, where it runs."""
        host, _, _ = address.rpartition(":")
        for service in self.client.get("/api/v1/services").must()["items"]:
            if service["spec"].get("clusterIP") != host:
                continue
            for operator in OPERATORS:
                known = service["metadata"]["namespace"] in (self.namespaces().get(operator), "")
                if known and self.procs.alive(operator):
                    use = "visibility" if "visibility" in service["metadata"]["name"] else "webhook"
                    return int(self.told["ports"][operator][use])
        return None

    def namespaces(self) -> dict[str, str]:
        """Return the namespaces of the operators that were started."""
        found = {}
        for operator, process in self.procs.state["processes"].items():
            if operator in OPERATORS:  # others of the same installation serve nobody
                found[operator] = process["env"]["POD_NAMESPACE"]
        return found


def keep(path: Path, data: bytes) -> None:
    """Write a file that is not as it shall be."""
    if not path.exists() or path.read_bytes() != data:
        path.write_bytes(data)


def namespace_of(value: Object) -> str:
    """Return the namespace of an object."""
    return str(value["metadata"]["namespace"])


async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Pass on what one side says."""
    with contextlib.suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()


async def connect(standins: Standins, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer a CONNECT of the server: the way to a program that runs, or a refusal."""
    asked = (await reader.readuntil(b"\r\n\r\n")).split()
    port = await asyncio.to_thread(standins.port, asked[1].decode())
    try:
        if port is None:
            raise ConnectionRefusedError
        there, back = await asyncio.open_connection(LOCAL, port)
    except OSError:
        writer.write(b"HTTP/1.1 502 Bad Gateway\r\n\r\n")
        writer.close()
        return
    writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
    await writer.drain()
    await asyncio.gather(pump(reader, back), pump(there, writer))


async def serve(standins: Standins) -> None:
    """Serve the network, and look at Deployments every second."""
    socket = Path(standins.told["socket"])
    socket.unlink(missing_ok=True)
    server = await asyncio.start_unix_server(lambda r, w: connect(standins, r, w), str(socket))
    async with server:
        while True:
            try:
                await asyncio.to_thread(standins.watch)
                await asyncio.to_thread(complete, standins.client)
            except (RuntimeError, OSError) as error:
                print(f"{time.strftime('%H:%M:%S')} {error}", flush=True)
            await asyncio.sleep(1)


def main() -> int:
    """Run until stopped."""
    run = Path(sys.argv[1])
    told = yaml.safe_load((run / "standins.yaml").read_text())
    procs = Processes(run / OWN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(procs.kill()))
    asyncio.run(serve(Standins(run, told, Client(run / "kubeconfig"), procs)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
