"""What is known of one operator, as its file in this folder says it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, StrictBool

from trainyard.base.versions import exact, nearest, order
from trainyard.specs.models.base import Name, Size, Spec, SubdomainName, Text, Version
from trainyard.specs.models.cluster import Gang
from trainyard.specs.models.fabric import Attach
from trainyard.specs.models.queues import Scheduler


class Chart(Spec):
    """Where the Helm chart is published."""

    repository: Text
    """As Argo CD takes it: an address, or an OCI registry and path without a scheme."""
    name: Text
    v_prefix: StrictBool = False
    """Whether published versions begin with a `v`."""
    path: Text | None = None
    """Its folder, where `repository` is the project's own Git repository and the version one of its tags."""


class Manifests(Spec):
    """Where the project keeps manifests that Kustomize renders, for projects without a chart."""

    repository: Text
    """Git address, as Argo CD takes it."""
    path: Text
    """Folder of the kustomization."""
    v_prefix: StrictBool = False
    """Whether tags of releases begin with a `v`."""
    images: tuple[Text, ...] = ()
    """Images to pin, each `name:tag`, where `{version}` is the release's; unsaid: those of the kustomization."""


class Kubernetes(Spec):
    """Minor versions that a project says it works on; None where it names no bound."""

    oldest: Text | None = None
    newest: Text | None = None

    def has(self, minor: str) -> bool:
        """Whether a minor version is within the bounds."""
        return (self.oldest is None or order(self.oldest) <= order(minor)) and (
            self.newest is None or order(minor) <= order(self.newest)
        )


class Release(Spec):
    """One release that schemas and chart defaults are carried for."""

    kubernetes: Kubernetes = Kubernetes()
    frameworks: tuple[Text, ...] = ()
    """Kueue only: the names its integrations may have."""
    at_least: dict[Name, Version] = Field(default={})
    """Oldest releases of other operators that it works with."""
    components: dict[str, Any] = Field(default={})
    """Images and versions of what the operator runs, where its own resource has to name them."""
    cluster_kinds: tuple[Text, ...] | None = None
    """Cluster-scoped kinds that it may make, as `group/Kind`; unsaid: the operator's, else those of its chart.

    None where it has a chart or manifests, and nobody has read which kinds these make.
    """
    source: Text
    """Repository, tag and file."""


class Compared(Spec):
    """How often our decision was compared with that of a release's own program."""

    cases: int = Field(ge=1)
    """Cases of which the program has one answer."""
    differ: int = Field(ge=0)
    """Those of them that we decide otherwise."""
    but: Text | None = None
    """What is known to be decided otherwise."""
    source: Text
    """The test or tool that compared them."""


class Hooked(Spec):
    """How webhooks and controllers of a release, and what they fill in, were compared with ours."""

    cases: int | None = Field(default=None, ge=1)
    """Objects by chance of which its program has said whether it takes them; None: its sources were read."""
    differ: int = Field(default=0, ge=0)
    """Those of them that we judge otherwise."""
    changes: int | None = Field(default=None, ge=1)
    """Changes by chance of such objects, of which it has said whether it takes them; None: it was not asked."""
    changes_differ: int = Field(default=0, ge=0)
    """Those of them that we judge otherwise."""
    source: Text
    """The tool or test that asked it, or the sources that were read."""


class Oldest(Spec):
    """The oldest release that can be installed, and why."""

    version: Version
    why: Text
    managed: StrictBool = False
    """Whether it counts only where Trainyard installs the operator."""


class Need(Spec):
    """Another operator that must, or must not, be there too."""

    operator: Name
    value: Text | None = None
    """Path of a switch in the chart's values with which alone this counts."""
    equals: Text | None = None
    """What that value must be, where it is no switch."""
    unless: dict[Text, Any] = Field(default={})
    """Values by path, any of which takes the need away."""
    why: Text
    source: Text

    def counts(self, values: Mapping[str, Any]) -> bool:
        """Whether it holds under a cluster's values."""
        if any(lookup(values, path) == other for path, other in self.unless.items()):
            return False
        return self.value is None or lookup(values, self.value) == (True if self.equals is None else self.equals)


class Switches(Spec):
    """A value of the chart that turns feature gates of the operator on or off, or leaves some of its webhooks out."""

    value: Text
    """Path of the value."""
    form: Literal["list", "map", "text", "file", "names", "switch"]
    """`list`: of `name` and `enabled`; `map`: by name; `text`: `Name=true` with commas; `file`: a configuration in YAML
    with `featureGates`; `names`: what is not among them is off; `switch`: `turns` are off where it is false."""
    turns: tuple[Text, ...] = ()
    """Names of webhooks, as the rules call them."""
    default: StrictBool | Text | None = None
    """What the chart does where the value is not set."""
    source: Text


class Since(Spec):
    """A chart's switch, or a feature gate of the operator, that has no effect before a minor version of Kubernetes."""

    value: Text | None = None
    """Path of a switch in the chart's values."""
    gate: Text | None = None
    """Kueue only: name of a feature gate."""
    kubernetes: Text
    """The first minor version with which it works."""
    why: Text
    """What it needs of Kubernetes, as in `it makes a MutatingAdmissionPolicy`."""
    source: Text


class Use(Spec):
    """What a cluster has that this operator is needed for, any of what is said."""

    queues: Scheduler | None = None
    """Queues whose jobs this scheduler admits."""
    gang: Gang | None = None
    """Gangs that are kept together in this way."""
    attach: tuple[Attach, ...] = ()
    """An RDMA fabric whose pods are attached in one of these ways."""
    fabric: tuple[Name, ...] = ()
    """A fabric of one of these types, with nodes on it."""
    unless: tuple[Name, ...] = ()
    """Operators that do the same where they are ours to install."""
    why: Text
    """What the operator does for it, as in `queues need kueue: it admits their jobs`."""
    source: Text


class LeftOut(Spec):
    """A definition or kind that its API types or chart have, and that does not count as its own here."""

    name: Text
    """A definition as `plural.group`, a kind as `group/Kind`."""
    why: Text
    source: Text


class Bundle(Spec):
    """A project that the chart brings along, switched by a value; one operator of a cluster may do so."""

    project: Name
    switch: Text
    """Path of the value, such as `nfd.enabled`."""
    default: StrictBool
    """What the chart does where the value is not set."""
    rank: int
    """Who brings it where several could: the smallest; a release of its own comes before all."""
    source: Text


class Amounts(Spec):
    """Resources of a container, as Kubernetes writes them."""

    requests: dict[Text, Size] = Field(default={})
    limits: dict[Text, Size] = Field(default={})


class DaemonContainer(Spec):
    """A container of a daemon's pod."""

    name: Name
    init: StrictBool = False
    """Whether it ends before the others start."""
    sidecar: StrictBool = False
    """Whether it starts before the others and goes on running beside them."""
    resources: Amounts = Amounts()
    """What it asks for by default."""
    value: Text | None = None
    """Path of the chart's value that says so; None where nothing does."""
    sets: Amounts | None = None
    """What we say there instead."""


class Daemon(Spec):
    """Pods that an operator puts on nodes."""

    name: Name
    nodes: Literal["all", "nvidia", "amd", "fabric", "any"] = "all"
    """On which: every node, those with GPUs of a vendor, those on the fabric, or `any` one of those without taints."""
    fabrics: tuple[Name, ...] = ()
    """Types of fabric that it is for, where it is not for all."""
    switch: Text | None = None
    """Path of the chart's value that leaves them out."""
    installed: Name | None = None
    """Name of its Deployment or DaemonSet, where the chart that we install calls it otherwise."""
    containers: tuple[DaemonContainer, ...] = Field(min_length=1)
    source: Text


class Program(Spec):
    """A Deployment or DaemonSet that an operator's chart brings, and on which no size depends."""

    name: Name
    nodes: Literal["all", "nvidia", "amd", "fabric", "any"] = "any"
    """As those of a daemon."""
    brought_by: Text | None = None
    """Path of the chart's value without which it is left out."""
    source: Text


class Provisions(Spec):
    """Storage drivers that an operator installs, and the values of its chart that follow from the cluster."""

    provisioners: tuple[Text, ...] = Field(min_length=1)
    """Names of the drivers, as in `provisioner` of a class."""
    name_value: Text | None = None
    """Path of the value that renames the driver."""
    tolerations: tuple[Text, ...] = ()
    """Paths of the values with the tolerations of its pods on nodes."""
    tolerates_few: StrictBool = False
    """Whether these are not all taints by default, so that they follow from the pools."""
    all_taints: Text | None = None
    """Path of a switch by which its pods on nodes tolerate all taints, and without which they do not."""
    accounts: dict[Name, Text] = Field(default={})
    """Service accounts that call the provider, each with the path of the value that holds its annotations."""
    policy: Text | None = None
    """Policy of the provider whose rights these accounts need."""
    snapshot_sidecar: Text | None = None
    """Path of the switch of the container that makes snapshots, which is of use only beside the snapshot controller."""
    snapshot_switch: Text | None = None
    """Path of a switch that is on only where a class of the driver has `snapshots`."""
    asks: dict[Text, Text] = Field(default={})
    """Values by path that only the cluster's file can say, each with what it is, as in `volume groups of the nodes`."""
    privileged: tuple[Name, ...] = ()
    """Service accounts with pods that OpenShift's usual constraint refuses, and for which the chart makes none."""
    keeps: dict[Text, Text] = Field(default={})
    """Those of `sets` that may not be otherwise, each with what happens then."""
    sets: dict[Text, Any] = Field(default={})
    """Values by path that Argo CD, our classes or nodes with GPUs need otherwise than the chart has them."""


class Facts(Spec):
    """An operator, whatever its release; `derived` says what follows from the folder `schemas/` where it is unsaid."""

    namespace: Name
    own_namespace: StrictBool = True
    """False for a system namespace, which is not ours to make."""
    pod_security: Literal["restricted", "baseline", "privileged"] = "restricted"
    """Pod Security level that the namespace must allow."""
    chart: Chart | None = None
    """Unsaid: the project's only chart that is published at its releases."""
    manifests: Manifests | None = None
    """What is installed where there is no chart; None: objects of ours alone, if any."""
    installable: StrictBool = True
    """False for a project that others install, or that comes with another's chart."""
    fills_secret: SubdomainName | None = None
    """Secret that comes empty, and that the operator fills with the certificate of its webhook."""
    renames_secret: tuple[Text, ...] = ()
    """Paths of chart values that change the name of this Secret."""
    webhooks: tuple[Literal["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"], ...] = ()
    """Kinds of webhook configuration for its own API groups that each installation has, with failurePolicy Fail."""
    provider: Text | None = None
    """Cloud for whose machines alone it is, such as `aws`; default: any machine."""
    service_only: StrictBool = False
    """Whether it runs on nodes of that cloud's own Kubernetes service alone."""
    critical_pods: StrictBool = False
    """Whether pods of its own have one of Kubernetes' system priorities."""
    has_types: StrictBool = True
    """False for a project that defines no kinds of its own, so that nobody misses its API types."""
    crds: tuple[SubdomainName, ...] = ()
    """CustomResourceDefinitions that it owns; unsaid: those of its API types."""
    brings_crds: tuple[SubdomainName, ...] = ()
    """Definitions of another project that come with its chart."""
    cluster_kinds: tuple[Text, ...] | None = None
    """Cluster-scoped kinds that all its releases may make; unsaid: those of the templates of each chart."""
    own_constraints: StrictBool = False
    """Whether its chart makes SecurityContextConstraints where the server has OpenShift's."""
    leaves_out: tuple[LeftOut, ...] = ()
    """What is not to follow from its API types and its chart."""
    resource_prefix: Text | None = None
    """Prefix of the device resources it advertises, unless a value says otherwise."""
    prefix_value: Text | None = None
    """Path of the chart's value that sets the prefix."""
    provisions: Provisions | None = None
    """Storage drivers that it installs."""
    attaches: tuple[Attach, ...] = ()
    """Ways of attaching pods to an RDMA fabric that it provides the devices or interfaces for."""
    daemons: tuple[Daemon, ...] = ()
    """Pods that it puts on nodes of jobs."""
    programs: tuple[Program, ...] = ()
    """Deployments and DaemonSets of its chart beside these, whose pods ask for little."""
    releases: dict[Version, Release] = Field(min_length=1)
    oldest: Oldest | None = None
    needs: tuple[Need, ...] = ()
    excludes: tuple[Need, ...] = ()
    needed_for: tuple[Use, ...] = ()
    bundles: tuple[Bundle, ...] = ()
    since: tuple[Since, ...] = ()
    """Switches and gates that need a newer Kubernetes than the operator itself."""
    optional_values: tuple[Text, ...] = ()
    """Paths of chart values that the chart reads but its defaults only mention."""
    compared: dict[Version, Compared] = Field(default={})
    """Of a scheduler, the releases with whose own decisions ours were compared."""
    hooks: dict[Version, Hooked] = Field(default={})
    """Releases whose webhooks and controllers were compared with ours, where it has any that judge objects."""
    gates: tuple[Switches, ...] = ()
    """Values by which a cluster's file sets feature gates, or leaves webhooks out."""
    sources: dict[str, Text] = Field(default={})
    """Where each fact comes from: field -> document."""

    def hooks_as(self, version: str) -> str | None:
        """Return the compared release as whose webhooks objects are judged, the nearest; None where none judges."""
        return nearest(version, self.hooks) if self.hooks else None

    def decided_as(self, version: str) -> str | None:
        """Return the compared release as which a release is decided, the nearest one; None where none was compared."""
        return nearest(version, self.compared) if self.compared else None

    def is_too_old(self, version: str, *, managed: bool = True) -> bool:
        """Whether a release is older than the oldest that serves; `managed` says whether it is ours to install."""
        if self.oldest is None or (self.oldest.managed and not managed):
            return False
        return order(version) < order(self.oldest.version)

    def prefix(self, values: Mapping[str, Any]) -> str | None:
        """Return the prefix of its device resources under a cluster's values, or None where it is not known."""
        said = lookup(values, self.prefix_value) if self.prefix_value else None
        return said if isinstance(said, str) else self.resource_prefix

    def nearest(self, version: str) -> str:
        """Return the known release that is nearest to one."""
        return nearest(version, self.releases)

    def known_release(self, version: str) -> str | None:
        """Return the known release that a version names, as it is published; None where it is none."""
        return next((known for known in self.releases if exact(known, version)), None)

    @property
    def installs_alone(self) -> bool:
        """Whether the operator can be installed from its facts, without a module: it has a chart or manifests."""
        return self.installable and (self.chart is not None or self.manifests is not None)

    @property
    def newest_first(self) -> list[str]:
        """The known releases."""
        return sorted(self.releases, key=order, reverse=True)

    def near(self, version: str) -> Release:
        """Return the facts of a release, or of the nearest one."""
        return self.releases[self.nearest(version)]


def lookup(values: Mapping[str, Any], path: str) -> Any:
    """Return the value at a dotted path, or None."""
    found: Any = values
    for key in path.split("."):
        found = found.get(key) if isinstance(found, Mapping) else None
    return found
