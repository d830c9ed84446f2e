"""What can be built and started, at which version, and how each operator is configured."""

import os
from dataclasses import dataclass, field, replace

KUBERNETES = ("1.34.4", "1.35.4", "1.36.3", "1.37.2")
KUBERNETES_DEFAULT = "1.35.4"
CONTROL_PLANE = ("kube-apiserver", "kube-controller-manager", "kube-scheduler")
ETCD = "3.6.7"
KWOK = "0.8.0"
ARGOCDS = {"3.2.6": "", "3.6.1": "go1.27.4"}
"""Releases of Argo CD, each with the Go that it needs where ours is older; Go fetches that itself."""
ARGOCD = "3.2.6"
ARGOCD_NEW = "3.6.1"


@dataclass(frozen=True)
class Operator:
    """An operator: where its code and manifests are, and how it is started."""

    module: str
    version: str
    package: str = "."  # "." is our own main.go
    namespace: str = ""
    account: str = ""
    manifests: tuple[str, ...] = ()  # copied from the module at build
    crds: str = ""  # folder with CRDs (and a kustomization for conversion patches)
    webhooks: str = ""  # folder with manifests.yaml and its kustomization
    prefix: str = ""  # kustomize namePrefix
    service: str = ""  # DNS name in the serving certificate
    secret: str = ""  # where the manager's own rotation looks for its certificate
    objects: str = ""  # folder of objects every installation has
    args: tuple[str, ...] = ()
    config: dict = field(default_factory=dict)
    ready: str = "http://{health}/readyz"
    hooks_first: bool = False  # its manager waits for the webhook configurations
    also: tuple[tuple[str, str, tuple[str, ...]], ...] = ()  # further processes: name, package, arguments


LOCAL = "127.0.0.1"

FRAMEWORKS = [
    "batch/job",
    "kubeflow.org/mpijob",
    "ray.io/rayjob",
    "ray.io/raycluster",
    "ray.io/rayservice",
    "jobset.x-k8s.io/jobset",
    "kubeflow.org/paddlejob",
    "kubeflow.org/pytorchjob",
    "kubeflow.org/tfjob",
    "kubeflow.org/xgboostjob",
    "kubeflow.org/jaxjob",
    "workload.codeflare.dev/appwrapper",
    "trainer.kubeflow.org/trainjob",
    "pod",
    "deployment",
    "statefulset",
    "leaderworkerset.x-k8s.io/leaderworkerset",
]

VOLCANO_WEBHOOKS = (
    *("/jobs/mutate", "/jobs/validate", "/podgroups/validate", "/queues/mutate", "/queues/validate"),
    *("/hypernodes/validate", "/cronjobs/validate"),
)

# {webhook}, {health} and {certs} are filled in at start.
OPERATORS = {
    "kueue": Operator(
        module="sigs.k8s.io/kueue",
        version="0.19.2",
        package="sigs.k8s.io/kueue/cmd/kueue",
        namespace="kueue-system",
        account="kueue-controller-manager",
        manifests=("config/components/crd", "config/components/webhook"),
        crds="config/components/crd",
        webhooks="config/components/webhook",
        prefix="kueue-",
        service="kueue-webhook-service",
        secret="kueue-webhook-server-cert",
        args=("--config={config}",),
        config={
            "apiVersion": "config.kueue.x-k8s.io/v1beta2",
            "kind": "Configuration",
            "health": {"healthProbeBindAddress": "{health}"},
            "metrics": {"bindAddress": "0"},
            "webhook": {"host": LOCAL, "port": "{webhook}", "certDir": "{certs}"},
            "leaderElection": {"leaderElect": False},
            "clientConnection": {"qps": 300, "burst": 500},
            "controller": {
                "groupKindConcurrency": {
                    "Job.batch": 5,
                    "Pod": 5,
                    "Workload.kueue.x-k8s.io": 10,
                    "LocalQueue.kueue.x-k8s.io": 5,
                    "Cohort.kueue.x-k8s.io": 1,
                    "ClusterQueue.kueue.x-k8s.io": 5,
                    "ResourceFlavor.kueue.x-k8s.io": 1,
                }
            },
            "integrations": {"frameworks": FRAMEWORKS},
            "featureGates": {"VisibilityOnDemand": False},
        },
    ),
    "jobset": Operator(
        module="sigs.k8s.io/jobset",
        version="0.12.0",
        package="sigs.k8s.io/jobset",
        namespace="jobset-system",
        account="jobset-controller-manager",
        manifests=("config/components/crd", "config/components/webhook"),
        crds="config/components/crd",
        webhooks="config/components/webhook",
        prefix="jobset-",
        service="jobset-webhook-service",
        args=("--config={config}",),
        config={
            "apiVersion": "config.jobset.x-k8s.io/v1alpha1",
            "kind": "Configuration",
            "health": {"healthProbeBindAddress": "{health}"},
            "metrics": {"bindAddress": "0"},
            "webhook": {"host": LOCAL, "port": "{webhook}", "certDir": "{certs}"},
            "leaderElection": {"leaderElect": False},
            "internalCertManagement": {"enable": False},
        },
    ),
    "trainer": Operator(
        module="github.com/kubeflow/trainer/v2",
        version="2.3.0",
        package="github.com/kubeflow/trainer/v2/cmd/trainer-controller-manager",
        namespace="kubeflow-system",
        account="kubeflow-trainer-controller-manager",
        manifests=("manifests/base/crds", "manifests/base/webhook", "manifests/base/runtimes"),
        crds="manifests/base/crds",
        webhooks="manifests/base/webhook",
        service="kubeflow-trainer-controller-manager",
        objects="manifests/base/runtimes",
        args=("--config={config}",),
        config={
            "apiVersion": "config.trainer.kubeflow.org/v1alpha1",
            "kind": "Configuration",
            "health": {"healthProbeBindAddress": "{health}"},
            "metrics": {"bindAddress": "0", "secureServing": False},
            "webhook": {"host": LOCAL, "port": "{webhook}"},
            "leaderElection": {"leaderElect": False},
            "certManagement": {"enable": False},
            "clientConnection": {"qps": 200, "burst": 400},
            "controller": {
                "groupKindConcurrency": {
                    "TrainJob.trainer.kubeflow.org": 5,
                    "TrainingRuntime.trainer.kubeflow.org": 1,
                    "ClusterTrainingRuntime.trainer.kubeflow.org": 1,
                }
            },
        },
    ),
    "training-operator": Operator(
        module="github.com/kubeflow/training-operator",
        version="1.9.4",
        namespace="kubeflow",
        account="training-operator",
        manifests=("manifests/base/crds", "manifests/base/webhook"),
        crds="manifests/base/crds",
        webhooks="manifests/base/webhook",
        service="training-operator",
        args=("--health={health}", "--webhook-port={webhook}", "--cert-dir={certs}", "{schemes}"),
    ),
    "kuberay": Operator(
        module="github.com/ray-project/kuberay/ray-operator",
        version="1.6.2",
        package="github.com/ray-project/kuberay/ray-operator",
        namespace="ray-system",
        account="kuberay-operator",
        manifests=("config/crd",),
        crds="config/crd",
        args=("--metrics-addr=0", "--health-probe-bind-address={health}", "--enable-leader-election=false"),
    ),
    "mpi-operator": Operator(
        module="github.com/kubeflow/mpi-operator",
        version="0.8.2",
        namespace="mpi-operator",
        account="mpi-operator",
        manifests=("manifests/base",),
        crds="manifests/base",
        args=("--kubeConfig={kubeconfig}", "--kube-api-qps=100", "--kube-api-burst=200"),
        ready="",
    ),
    "lws": Operator(
        module="sigs.k8s.io/lws",
        version="0.9.0",
        package="sigs.k8s.io/lws/cmd",
        namespace="lws-system",
        account="lws-controller-manager",
        manifests=("config/crd", "config/webhook"),
        crds="config/crd",
        webhooks="config/webhook",
        prefix="lws-",
        service="lws-webhook-service",
        args=("--config={config}",),
        config={
            "apiVersion": "config.lws.x-k8s.io/v1alpha1",
            "kind": "Configuration",
            "health": {"healthProbeBindAddress": "{health}"},
            "metrics": {"bindAddress": "0"},
            "webhook": {"host": LOCAL, "port": "{webhook}", "certDir": "{certs}"},
            "leaderElection": {"leaderElect": False},
            "internalCertManagement": {"enable": False},
        },
    ),
    "volcano": Operator(
        module="volcano.sh/volcano",
        version="1.14.1",
        package="volcano.sh/volcano/cmd/webhook-manager",
        namespace="volcano-system",
        account="volcano-admission",
        manifests=("installer/volcano-development.yaml",),
        crds="installer/volcano-development.yaml",
        webhooks="installer/volcano-development.yaml",
        service="volcano-admission-service",
        args=(
            "--kubeconfig={kubeconfig}",
            "--listen-address=127.0.0.1",
            "--port={webhook}",
            "--tls-cert-file={certs}/tls.crt",
            "--tls-private-key-file={certs}/tls.key",
            "--ca-cert-file={ca}",
            "--webhook-namespace=volcano-system",
            "--webhook-service-name=volcano-admission-service",
            f"--enabled-admission={','.join(VOLCANO_WEBHOOKS)}",
        ),
        ready="https://127.0.0.1:{webhook}/#any",
        hooks_first=True,
        also=(
            (
                "volcano-controllers",
                "volcano.sh/volcano/cmd/controller-manager",
                ("--kubeconfig={kubeconfig}", "--leader-elect=false", "--enable-metrics=false"),
            ),
            (
                "volcano-scheduler",
                "volcano.sh/volcano/cmd/scheduler",
                (
                    "--kubeconfig={kubeconfig}",
                    "--leader-elect=false",
                    "--enable-metrics=false",
                    "--cache-dumper=false",
                    "--schedule-period=200ms",
                ),
            ),
        ),
    ),
}
TRAINING = (
    "kueue",
    "jobset",
    "trainer",
    "training-operator",
    "mpi-operator",
    "kuberay",
    "lws",
    "volcano",
    "scheduler-plugins",
    "appwrapper",
    "kwok",
)
"""Projects whose CRDs a cluster for training has; `--crds all` installs those of every project."""

V1_SCHEMES = ("tfjob", "pytorchjob", "xgboostjob", "paddlejob", "jaxjob")  # and mpijob with --mpijob v1


OWN = {name: op.version for name, op in OPERATORS.items()}
"""The releases of operators that the modules of this folder name."""


def with_releases(text: str) -> None:
    """Take other releases, as in `jobset=0.11.1 trainer=2.2.1`, instead of those above."""
    for name, _, version in (part.partition("=") for part in text.split()):
        OPERATORS[name] = replace(OPERATORS[name], version=version)


with_releases(os.environ.get("ORACLES_RELEASES", ""))


def binary(name: str) -> str:
    """Return the file name of an operator's program."""
    return f"{name}-{OPERATORS[name].version}"
