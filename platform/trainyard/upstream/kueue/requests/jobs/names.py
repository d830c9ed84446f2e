"""What Workloads are called.

Source: kueue v0.19.2 pkg/controller/jobframework/workload_names.go, reconciler.go newWorkloadName.
"""

from __future__ import annotations

from hashlib import sha1

from trainyard.base.labels import ELASTIC
from trainyard.base.manifests import identity_of
from trainyard.upstream.kueue.requests.jobs.parts import Object, notes_of

LONGEST = 253
HASH = 5
GENERATION = "kueue.x-k8s.io/raycluster-generation"


def workload_name(value: Object, owner: str | None, *, elastic: bool) -> str:
    """Return the name of a job's Workload: kind, name, and a hash with the job's UID.

    A manifest has no UID, and gets namespace and name in its place, which no cluster does.
    """
    identity, metadata = identity_of(value), value.get("metadata") or {}
    namespace = identity.namespace or "default"
    uid = metadata.get("uid") or f"{namespace}/{identity.name}"
    name = owner or identity.name
    parts = [identity.kind, identity.group, name, uid]
    if elastic and notes_of(value).get(ELASTIC) == "true":
        generation = str(metadata.get("generation") or 1)
        beside = notes_of(value).get(GENERATION)
        parts.append(f"{generation}_{beside}" if beside and identity.group == "ray.io" else generation)
    digest = sha1("\n".join(parts).encode(), usedforsecurity=False).hexdigest()[:HASH]
    return f"{f'{identity.kind.lower()}-{name}'[: LONGEST - 1 - HASH]}-{digest}"
