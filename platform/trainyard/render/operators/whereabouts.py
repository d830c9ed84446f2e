"""Whereabouts: addresses that are unique in the cluster; its chart, with the folders of the nodes' distribution."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.render.operators.base import Conflict, Operator, Site
from trainyard.render.operators.stated_values import check_folders
from trainyard.render.sizing.software import cni


class Whereabouts(Operator):
    """The chart's defaults serve wherever nodes keep plugins in the usual folders."""

    name = "whereabouts"

    def values(self, site: Site) -> dict[str, Any]:
        """Return the folders of plugins and their configuration, where they are not the chart's."""
        folders = cni(site.cluster)
        if folders.is_usual:
            return {}
        return {"cniConf": {"confDir": folders.config, "binDir": folders.binaries}}

    def conflicts(self, site: Site) -> Iterator[Conflict]:
        """Yield folders that are not those of the nodes."""
        source = "k8snetworkplumbingwg/whereabouts v0.9.4 deployment/whereabouts-chart/values.yaml"
        yield from check_folders(site, source, binaries="cniConf.binDir", config="cniConf.confDir")


OPERATOR = Whereabouts()
