"""Why some readers have nothing to say of a kind: by reader, a reason each."""

from __future__ import annotations

from collections.abc import Mapping

READERS = ("plan", "podsecurity", "policies", "queueing", "run", "tenancy")
"""Who looks at the pods of kinds, beside the policies in CEL, which look at all of them."""

Reasons = Mapping[str, str]

NO_RUN = "a plan counts the pods of runs, and no run is made of it; its fields are shown"

SERVES: Reasons = {
    "plan": NO_RUN,
    "policies": "policies look at what trains; its pods serve",
    "queueing": "Kueue makes Workloads of its pods, not of itself",
    "run": "its pods never end, so that no trial of it would",
}

MAKES: Reasons = {
    "plan": NO_RUN,
    "queueing": "Kueue looks at the jobs that it makes",
    "run": "it makes jobs at some time or event; run the job",
}

IDLE: Reasons = {
    "plan": NO_RUN,
    "queueing": "no pod is made of it before another object names it",
    "run": "no pod is made of it before another object names it",
}
