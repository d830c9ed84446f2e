"""Kubeflow Trainer: the controller alone; JobSet is installed by itself, and runtimes come with the runs."""

from __future__ import annotations

from trainyard.operators.base import Operator


class Trainer(Operator):
    """Trainer from its chart, without the runtimes that it can bring: a Job would fetch and apply them by itself.

    It makes its webhooks' certificate itself, in a Secret that the chart ships empty, and writes it into the webhooks
    (trainer v2.3.0 charts/kubeflow-trainer/templates/webhook, templates/runtimes/installer-job.yaml).
    """

    name = "trainer"
    ignore = ({"kind": "Secret", "name": "kubeflow-trainer-webhook-cert", "jsonPointers": ["/data"]},)


OPERATOR = Trainer()
