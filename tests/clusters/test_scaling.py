"""Pools that scale: Karpenter starts their nodes and never ends a run, or Kueue asks for them; quota counts all."""

from __future__ import annotations

from typing import Any

import pytest

from make import CLUSTER, make_cluster
from trainyard.base.system.data import own_folder
from trainyard.render.clusters import karpenter, platform, projects, provisioning
from trainyard.render.operators.kueue import derive_configuration
from trainyard.render.parts.pods import STAY
from trainyard.specs import Cluster
from trainyard.upstream.apiserver.catalog import Catalog
from trainyard.upstream.kueue.model.queues import PROVISIONING

