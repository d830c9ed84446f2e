"""Who runs pipelines on a cluster, and as whom their steps start training."""

from __future__ import annotations

from trainyard.specs.models.base import Image, Name, Spec


class Pipelines(Spec):
    """A Kubeflow Pipelines that somebody else installs; jobs that say `after` are its steps."""

    image: Image
    """By digest: any image with Python 3.9 or newer as `python3`; each step's own pod runs in it, and waits."""
    service_account: Name = "pipeline-runner"
    """Account of the steps' pods, which may start and end the teams' runs."""
    namespace: Name | None = None
    """Where that account is; default: each team's own namespace, as with a profile for each team."""
