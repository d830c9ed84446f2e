"""How a cluster is watched: the Prometheus that reads metrics, and the numbers at which it tells people."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StrictBool

from trainyard.specs.models.base import Address, Count, LabelKey, Labels, Name, Rate, Room, Spec, Text

Percent = Annotated[Rate, Field(le=100)]


class ExistingPrometheus(Spec):
    """A Prometheus Operator that somebody else installs, and what its Prometheus reads."""

    namespace: Name
    """Namespace in which its Prometheus looks for monitors and rules."""
    labels: Labels = {}
    """Labels by which it selects monitors and rules; default: it selects all."""
    service_account: Name | None = None
    """Prometheus' service account in that namespace, which gets the right to read metrics of operators; default:
    somebody else gives it."""


class Grafana(Spec):
    """A Grafana that somebody else installs; its sidecar loads dashboards from ConfigMaps."""

    url: Address | None = None
    """Address of Grafana, for links to the dashboard of each new run; default: no links."""
    datasource: Text | None = None
    """Name or UID of this cluster's Prometheus in Grafana, for links; default: Grafana's first."""
    namespace: Name | None = None
    """Namespace in which the sidecar looks for ConfigMaps; default: that of Prometheus."""
    label: LabelKey = "grafana_dashboard"
    """Label by which the sidecar selects ConfigMaps."""
    folder: Text = "Trainyard"
    """Folder of the dashboards in Grafana."""


class Alerts(Spec):
    """The numbers at which alerts fire."""

    not_admitted_minutes: Count = 60
    """Minutes that a run may wait for quota."""
    not_ready_minutes: Count = 20
    """Minutes that an admitted run may lack pods."""
    idle_percent: Percent = 5
    """Use of its busiest GPU, in percent, below which a run is idle."""
    idle_minutes: Count = 30
    """Minutes that all GPUs of a run may be idle."""
    straggler_percent: Percent = 80
    """Clock of a GPU, in percent of the median of its busy run, below which it is a straggler."""
    straggler_minutes: Count = 15
    """Minutes that a GPU may be a straggler."""
    checkpoint_hours: Count = 6
    """Hours in which something must be written to the claims that runs save to."""
    socket_megabytes: Count = 200
    """Megabytes a second which every pod of a run sends over the pods' network when NCCL uses sockets."""
    lent_days: Count = 3
    """Days for which a queue may use quota of others."""
    certificate_days: Count = 14
    """Days before the end of a certificate."""
    out_of_sync_minutes: Count = 60
    """Minutes that an Application may differ from Git."""
    link_errors_per_hour: Count = 100
    """Errors of a port of the fabric in an hour."""
    pcie_replays_per_hour: Count = 100
    """Retries of a GPU on PCIe in an hour."""
    disabled: tuple[str, ...] = ()
    """Names of alerts that are left out."""


class Monitoring(Spec):
    """The Prometheus of a cluster, what it reads, and its alerts."""

    existing: ExistingPrometheus | None = None
    """A Prometheus Operator that is there; default: `kube-prometheus-stack` of `operators` installs it."""
    argocd: StrictBool = False
    """Whether Argo CD runs on this cluster, so that this Prometheus reads it."""
    pool: Name | None = None
    """Pool whose nodes run Prometheus; default: the first pool without GPUs, else any node."""
    retention_days: Count = 15
    """Days for which Prometheus keeps series."""
    storage_class: Name | None = None
    """Class of Prometheus' volume; default: none, so series are lost with the pod."""
    storage_size: Room = "200Gi"
    """Size of the volume."""
    checkpoint_claims: tuple[Name, ...] = ("checkpoints",)
    """Claims of teams that runs save checkpoints to."""
    grafana: Grafana | None = None
    """The Grafana that shows dashboards; default: none, so none are rendered."""
    alerts: Alerts = Alerts()
    """Numbers at which alerts fire."""
