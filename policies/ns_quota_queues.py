"""A ResourceQuota allows all that the queues of its namespace can admit.

Why: Kueue admits by the quota of queues and never looks at ResourceQuotas. The API server then refuses pods of an
 admitted job, and the job keeps the GPUs of its other pods.
Fix: raise the quota to this amount, or lower the nominal quota and the borrowing limit.
Source: kueue v0.19.2 pkg/scheduler; kubernetes v1.35 pkg/quota/v1/evaluator/core/pods.go
"""

from collections.abc import Iterator

from trainyard.checks import Place, Problem, Queues, Severity, World, amount_of, quantity_text

SEVERITY = Severity.WARNING

PREFIX = "requests."


def check(world: World) -> Iterator[Problem]:
    """Compare the quotas for all pods of a namespace with its queues."""
    quotas = world.of("ResourceQuota", group="")
    queues = Queues(world) if quotas else None
    for quota in quotas:
        if queues is None or quota.get("spec", "scopes") or quota.get("spec", "scopeSelector"):
            continue
        most = queues.most_admitted(quota.namespace or "default")
        for path, text in quota.at("spec", "hard", "*"):
            name = str(path[-1])
            resource = name.removeprefix(PREFIX)
            allowed, admitted = amount_of(text), most.get(resource)
            if allowed is not None and admitted is not None and admitted > allowed:
                admits = quantity_text(resource, admitted)
                message = f"quota allows {text} {name}, but the queues of the namespace admit {admits}"
                yield Problem(Place(quota, path), message)
