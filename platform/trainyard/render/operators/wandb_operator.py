"""Weights & Biases: its operator from the chart, and the object by which it installs the server.

Facts: wandb/helm-charts operator-1.4.8 charts/operator, operator-wandb-0.43.8 charts/operator-wandb/values.yaml. The
definition checks nothing inside of `spec.values`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.render.operators.base import Operator, Site
from trainyard.render.parts.identity import labels_for
from trainyard.render.parts.objects import Resource
from trainyard.specs.models.tracking import Wandb, WandbBucket, WandbServer

NAME = "wandb-operator"
SERVER = "wandb"

USE_BUCKET = ("api", "app", "executor", "filemeta", "filestream", "parquet")
"""Components with a service account that read or write files of runs (assumed from their names in the chart)."""


class WandbOperator(Operator):
    """The operator with the image of its release, where the chart says `latest`."""

    name = NAME

    def values(self, site: Site) -> dict[str, Any]:
        """Return the pinned image."""
        image = site.components["controller"]
        return {"image": {"repository": image["image"], "tag": image["version"], "pullPolicy": "IfNotPresent"}}

    def own(self, site: Site) -> Iterator[Resource]:
        """Yield the server, if the cluster's file has one."""
        said = site.cluster.tracking.wandb if site.cluster.tracking else None
        if said is not None and said.server is not None:
            yield server(site, said, said.server)


def server(site: Site, said: Wandb, wanted: WandbServer) -> Resource:
    """Return the server: a pinned chart, with a database and a bucket that somebody else runs."""
    chart = site.components["server"]
    values: dict[str, Any] = {"global": global_values(said, wanted), "mysql": {"install": False}}
    notes = dict(wanted.bucket.annotations)
    for component in USE_BUCKET if notes else ():
        values[component] = {"serviceAccount": {"annotations": notes}}
        labels = labels_for(notes)
        values[component] |= {"podLabels": labels} if labels else {}
    spec = {"chart": {"url": chart["chart"], "name": chart["name"], "version": wanted.chart}, "values": values}
    at = ("tracking", "wandb", "server")
    labels = {"app.kubernetes.io/name": "weightsandbiases"}
    fields = {"spec": spec}
    return Resource("apps.wandb.com/v1", "WeightsAndBiases", SERVER, at, site.facts.namespace, labels, fields=fields)


def global_values(said: Wandb, wanted: WandbServer) -> dict[str, Any]:
    """Return the values that all components read; what is secret stands in Secrets."""
    name, _, key = wanted.license.partition("/")
    secret, _, password = wanted.database.secret.partition("/")
    return {
        "host": said.url,
        "licenseSecret": {"name": name, "key": key},
        "mysql": {
            "host": wanted.database.host,
            "port": wanted.database.port,
            "database": wanted.database.name,
            "user": wanted.database.user,
            "passwordSecret": {"name": secret, "passwordKey": password},
        },
        "bucket": bucket(wanted.bucket),
    }


def bucket(said: WandbBucket) -> dict[str, str]:
    """Return the bucket, which users of the console cannot replace."""
    region = {"region": said.region} if said.region else {}
    return {"provider": said.provider, "name": said.name, **region}


OPERATOR = WandbOperator()
