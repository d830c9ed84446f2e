"""Prerequisites of buckets: the buckets themselves, their drivers, and identities that the provider trusts."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from trainyard.render.clusters.buckets import DRIVERS
from trainyard.render.prerequisites.base import Prerequisite, Site
from trainyard.render.prerequisites.questions import CsiDriver
from trainyard.specs.accounts import BUCKETS, bucket_account
from trainyard.specs.models.buckets import DIRECT, Access, Bucket, ObjectStorage

S3: dict[Access, str] = {
    "read": "s3:ListBucket, s3:GetObject",
    "write": "s3:ListBucket, s3:GetObject, s3:PutObject, s3:DeleteObject, s3:AbortMultipartUpload",
}
"""Rights on a bucket and its objects (awslabs/mountpoint-s3 doc/CONFIGURATION.md, IAM permissions)."""

GOOGLE: dict[Access, str] = {"read": "roles/storage.objectViewer", "write": "roles/storage.objectUser"}
AZURE: dict[Access, str] = {"read": "Storage Blob Data Reader", "write": "Storage Blob Data Contributor"}


def stores(site: Site) -> Iterator[Prerequisite]:
    """Yield buckets and drivers, and for each team the trust of the provider in its service account."""
    store = site.cluster.object_storage
    if store is None:
        return
    yield from of_nodes(store)
    schemes = {bucket.scheme for bucket in store.buckets.values() if bucket.mount}
    for scheme in sorted(schemes):
        name = DRIVERS[scheme]
        said = site.cluster.drivers.get(name)
        yield Prerequisite(
            f"storage driver `{name}` runs on all nodes" + (f" ({said})" if said else ""),
            "jobs mount buckets by it, as folders",
            ("drivers", name) if said else ("objectStorage", "buckets"),
            "switch it on, or install it, as an add-on of the cluster; it needs no rights on buckets itself",
            CsiDriver(name, tuple(site.cluster.pools)),
        )
    for team in site.teams:
        if bucket_account(site.cluster, team) is None:
            continue
        place = site.cluster.namespace_of(team)
        if store.teams[team] != DIRECT:
            yield trust(store, team, place)
        for name, bucket in store.of_team(team).items():
            yield rights(store, team, place, name, bucket)


def trust(store: ObjectStorage, team: str, place: str) -> Prerequisite:
    """Return the trust of the provider in the service account of a team's namespace."""
    return Prerequisite(
        f"the provider trusts service account `{place}/{BUCKETS}` as `{store.teams[team]}`",
        "pods of the team use buckets by this identity, and no key stands in Git",
        ("objectStorage", "teams", team),
        TRUST[store.identity](team, place, store.teams[team]),
        look=f"start a job of team {team} with a bucket, and list the bucket",
    )


def of_nodes(store: ObjectStorage) -> Iterator[Prerequisite]:
    """Yield the software of nodes or cluster by which pods get their identity."""
    get, look, what = WAYS[store.identity]
    yield Prerequisite(what, "pods get credentials for buckets by it", ("objectStorage", "identity"), get, look=look)


WAYS = {
    "irsa": (
        "`eksctl utils associate-iam-oidc-provider --cluster CLUSTER --approve`",
        "`aws iam list-open-id-connect-providers` lists the issuer of the cluster",
        "IAM has an OIDC provider for the issuer of the cluster",
    ),
    "pod-identity": (
        "`aws eks create-addon --cluster-name CLUSTER --addon-name eks-pod-identity-agent`",
        "`kubectl get daemonset -n kube-system eks-pod-identity-agent`, ready on all nodes",
        "the agent of EKS Pod Identity runs on all nodes",
    ),
    "gke": (
        "`gcloud container node-pools update POOL --cluster CLUSTER --workload-metadata=GKE_METADATA` for each pool",
        "`kubectl get nodes -L iam.gke.io/gke-metadata-server-enabled` shows true",
        "Workload Identity Federation is on for all node pools, and for the cluster (`--workload-pool`)",
    ),
    "azure": (
        "`az aks update --enable-oidc-issuer --enable-workload-identity -g GROUP -n CLUSTER`",
        "`kubectl get pods -n kube-system -l azure-workload-identity.io/system=true`",
        "the cluster has an OIDC issuer and the webhook of Workload ID",
    ),
}
"""By way: how to get it, where to look, and what it is."""


def irsa(_team: str, place: str, identity: str) -> str:
    """Return how a role trusts a service account by the cluster's issuer."""
    return (
        f"let `{identity}` trust the issuer of the cluster (sts:AssumeRoleWithWebIdentity) with the conditions"
        f" `sub` = `system:serviceaccount:{place}:{BUCKETS}` and `aud` = `sts.amazonaws.com`"
    )


def pod_identity(_team: str, place: str, identity: str) -> str:
    """Return how a role is associated with a service account."""
    return (
        f"`aws eks create-pod-identity-association --cluster-name CLUSTER --namespace {place}"
        f" --service-account {BUCKETS} --role-arn {identity}`; the role trusts `pods.eks.amazonaws.com` with"
        " sts:AssumeRole and sts:TagSession"
    )


def gke(_team: str, place: str, identity: str) -> str:
    """Return how a Google service account lets a service account act as it."""
    return (
        f"`gcloud iam service-accounts add-iam-policy-binding {identity} --role roles/iam.workloadIdentityUser"
        f' --member "serviceAccount:PROJECT.svc.id.goog[{place}/{BUCKETS}]"`'
    )


def azure(team: str, place: str, identity: str) -> str:
    """Return how a managed identity trusts a service account."""
    return (
        f"`az identity federated-credential create --name {team}-{BUCKETS} --identity-name NAME -g GROUP"
        f" --issuer ISSUER --subject system:serviceaccount:{place}:{BUCKETS}"
        f" --audiences api://AzureADTokenExchange`, for the identity with client ID {identity}"
    )


TRUST: dict[str, Callable[[str, str, str], str]] = {
    "irsa": irsa,
    "pod-identity": pod_identity,
    "gke": gke,
    "azure": azure,
}


def rights(store: ObjectStorage, team: str, place: str, name: str, bucket: Bucket) -> Prerequisite:
    """Return the rights of a team's identity on a bucket."""
    access, identity = bucket.teams[team], store.teams[team]
    address = f"`{bucket.url}`"
    if bucket.scheme == "s3":
        get = f"give the role {S3[access]} there"
    elif bucket.scheme == "gs":
        member = (
            "principal://iam.googleapis.com/projects/NUMBER/locations/global/workloadIdentityPools/PROJECT.svc.id.goog"
            f"/subject/ns/{place}/sa/{BUCKETS}"
            if identity == DIRECT
            else f"serviceAccount:{identity}"
        )
        get = (
            f"`gcloud storage buckets add-iam-policy-binding gs://{bucket.name} --role={GOOGLE[access]}"
            f" --member={member}`"
        )
    else:
        account = bucket.parts[0]
        scope = f"/subscriptions/ID/resourceGroups/GROUP/providers/Microsoft.Storage/storageAccounts/{account}"
        get = f'`az role assignment create --role "{AZURE[access]}" --assignee {identity} --scope {scope}`'
        if bucket.mount:
            get += "; blobfuse asks for the account's keys too: `Storage Account Contributor`"
    verb = "read" if access == "read" else "read and write"
    return Prerequisite(
        f"{address} exists, and the identity of team {team} may {verb} it",
        f"jobs of the team use it as bucket {name}",
        ("objectStorage", "buckets", name),
        get,
        look=f"list {address} from a job of team {team}",
    )
