"""Prerequisites of storage drivers that are installed here: a role that trusts them and may make volumes."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.render.operators.base import Site as OperatorSite
from trainyard.render.operators.install import installed_operators
from trainyard.render.prerequisites.base import Prerequisite, Site
from trainyard.render.prerequisites.buckets import WAYS


def roles(site: Site) -> Iterator[Prerequisite]:
    """Yield for each driver with an identity the role that the cloud gives it, and the software that hands it over."""
    ways = dict[str, OperatorSite]()
    for operator, _ in installed_operators(site.cluster):
        said = operator.facts.provisions
        if said is None or not said.accounts or operator.choice.identity is None:
            continue
        if operator.choice.identity == "node":
            yield of_nodes(operator, str(said.policy))
            continue
        ways.setdefault(operator.choice.identity, operator)
        for account in said.accounts:
            yield trust(operator, account, str(said.policy))
    store = site.cluster.object_storage
    for way, operator in ways.items():
        if store is None or store.identity != way:
            get, look, what = WAYS[way]
            yield Prerequisite(what, f"{operator.name} gets its role by it", (*operator.at, "identity"), get, look=look)


def trust(operator: OperatorSite, account: str, policy: str) -> Prerequisite:
    """Return the role of a driver's service account, with the subject that it trusts and the policy that it has."""
    place, role = f"{operator.facts.namespace}:{account}", operator.choice.role or "a role"
    if operator.choice.identity == "irsa":
        how = (
            f"let it trust the issuer of the cluster (sts:AssumeRoleWithWebIdentity) with the conditions"
            f" `sub` = `system:serviceaccount:{place}` and `aud` = `sts.amazonaws.com`"
        )
    else:
        how = (
            f"`aws eks create-pod-identity-association --cluster-name CLUSTER --namespace {operator.facts.namespace}"
            f" --service-account {account} --role-arn {role}`; the role trusts `pods.eks.amazonaws.com` with"
            " sts:AssumeRole and sts:TagSession"
        )
    return Prerequisite(
        f"`{role}` trusts service account `{operator.facts.namespace}/{account}`, and has policy `{policy}`",
        f"{operator.name} makes volumes by it, and no key stands in Git",
        (*operator.at, "role"),
        f"{how}; `aws iam attach-role-policy --role-name NAME --policy-arn {policy}`",
        look="`kubectl describe pvc`, of a claim that stays pending, names a refused call",
    )


def of_nodes(operator: OperatorSite, policy: str) -> Prerequisite:
    """Return the rights of nodes, which a driver without a role of its own has, and every other pod too."""
    return Prerequisite(
        f"the role of the nodes has policy `{policy}`, and pods reach the metadata service of their node",
        f"{operator.name} makes volumes with the rights of its node",
        (*operator.at, "identity"),
        f"`aws iam attach-role-policy --role-name ROLE_OF_NODES --policy-arn {policy}`, and a hop limit of 2",
        look="`kubectl describe pvc`, of a claim that stays pending, names a refused call",
    )
