"""Why some readers have nothing to say of a kind: by reader, a reason each."""

from __future__ import annotations

from collections.abc import Mapping

READERS = ("life", "plan", "podsecurity", "policies", "queueing", "run", "tenancy", "webhooks")
"""Who looks at kinds, beside the policies in CEL, which look at all of them.

`life`: what `trainyard run` does when a pod ends; `webhooks`: what the kind's operator and Kueue refuse.
"""

Reasons = Mapping[str, str]

NO_RUN = "a plan counts the pods of runs, and no run is made of it; its fields are shown"

NO_END = "its pods never end, so that no trial of it would"
AT_ITS_TIME = "it makes jobs at some time or event; run the job"
UNNAMED = "no pod is made of it before another object names it"
UNCLAIMED = "no claim is made of it before another object names it"

BY_KUBERNETES: Reasons = {"webhooks": "no operator judges it; the rules of the API server are in core"}

SERVES: Reasons = {
    "plan": NO_RUN,
    "policies": "policies look at what trains; its pods serve",
    "queueing": "Kueue makes Workloads of its pods, not of itself",
    "run": NO_END,
    "life": NO_END,
}

MAKES: Reasons = {
    "plan": NO_RUN,
    "queueing": "Kueue looks at the jobs that it makes",
    "run": AT_ITS_TIME,
    "life": AT_ITS_TIME,
}

IDLE: Reasons = {
    "plan": NO_RUN,
    "queueing": UNNAMED,
    "run": UNNAMED,
    "life": UNNAMED,
    "claims": UNCLAIMED,
}
