"""Names of choices that do not exist, and settings that exclude each other or ask for a feature gate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.base.quantities import duration_text
from trainyard.upstream.kubelet.configuration.defaults import SECOND
from trainyard.upstream.kubelet.configuration.gates import Gates
from trainyard.upstream.kubelet.configuration.words import each, quote

POLICIES = ("none", "best-effort", "restricted", "single-numa-node")
SCOPES = ("container", "pod")
HAIRPINS = ("none", "hairpin-veth", "promiscuous-bridge")
VERIFICATIONS = ("NeverVerify", "NeverVerifyPreloadedImages", "NeverVerifyAllowlistedImages", "AlwaysVerify")
ENFORCEMENTS = (
    "pods",
    "system-reserved",
    "system-reserved-compressible",
    "kube-reserved",
    "kube-reserved-compressible",
    "none",
)


def check_topology(c: Mapping[str, Any], _gates: Gates) -> Iterator[str]:
    """Yield names of policies and scopes that do not exist."""
    policy, scope = c["topologyManagerPolicy"], c["topologyManagerScope"]
    if policy not in POLICIES:
        yield f"topologyManagerPolicy (--topology-manager-policy) {quote(policy)} must be one of: [{each(POLICIES)}]"
    if scope not in SCOPES:
        said = f"{quote(SCOPES[0])}, or {quote(SCOPES[1])}"
        yield f"topologyManagerScope (--topology-manager-scope) {quote(scope)} must be one of: {said}"


def check_shutdown(c: Mapping[str, Any], gates: Gates) -> Iterator[str]:
    """Yield periods in which a node cannot shut down."""
    whole, critical = c["shutdownGracePeriod"], c["shutdownGracePeriodCriticalPods"]
    by_priority = bool(c.get("shutdownGracePeriodByPodPriority"))
    if gates.on("GracefulNodeShutdown"):
        if critical > whole:
            yield (
                f"shutdownGracePeriodCriticalPods {{{duration_text(critical)}}} must be <= "
                f"shutdownGracePeriod {{{duration_text(whole)}}}"
            )
        for name, period in (("shutdownGracePeriod", whole), ("shutdownGracePeriodCriticalPods", critical)):
            if period < 0 or 0 < period < SECOND:
                yield f"{name} {{{duration_text(period)}}} must be either zero or otherwise >= 1 sec"
    elif whole > 0 or critical > 0:
        needed = "requires feature gate GracefulNodeShutdown"
        yield f"specifying shutdownGracePeriod or shutdownGracePeriodCriticalPods {needed}"
    if by_priority and not gates.on("GracefulNodeShutdownBasedOnPodPriority"):
        yield (
            "Specifying shutdownGracePeriodByPodPriority requires feature gate GracefulNodeShutdownBasedOnPodPriority"
        )
    elif by_priority and (whole > 0 or critical > 0):
        yield "Cannot specify both shutdownGracePeriodByPodPriority and shutdownGracePeriod at the same time"


def check_restarts(c: Mapping[str, Any], gates: Gates) -> Iterator[str]:
    """Yield the errors on swap, and on how long a crashing container may wait."""
    swap = (c.get("memorySwap") or {}).get("swapBehavior") or ""
    if swap not in ("", "NoSwap", "LimitedSwap"):
        yield f'memorySwap.swapBehavior {quote(swap)} must be one of: "", "LimitedSwap" or "NoSwap"'
    longest = (c.get("crashLoopBackOff") or {}).get("maxContainerRestartPeriod")
    if longest is None:
        return
    if not gates.on("KubeletCrashLoopBackOffMax"):
        yield (
            "FeatureGate KubeletCrashLoopBackOffMax not enabled, "
            "CrashLoopBackOff.MaxContainerRestartPeriod must not be set"
        )
    elif not 1000 <= int(longest / 10**6) <= 300_000:
        seconds = longest / SECOND
        said = int(seconds) if seconds == int(seconds) else seconds
        yield f"CrashLoopBackOff.MaxContainerRestartPeriod (got: {said} seconds) must be set between 1s and 300s"


def check_enforcement(c: Mapping[str, Any], _gates: Gates) -> Iterator[str]:
    """Yield the errors on reserved resources that cannot be enforced."""
    field = "enforceNodeAllocatable (--enforce-node-allocatable)"
    listed = c["enforceNodeAllocatable"] or ()
    for kind in ("system-reserved", "kube-reserved"):
        if kind in listed and f"{kind}-compressible" in listed:
            yield f"both {quote(kind)} and {quote(kind + '-compressible')} cannot be specified together in {field}"
    seen: set[str] = set()
    for one in listed:
        if one in seen:
            yield f"duplicated enforcements {quote(one)} in {field}"
            continue
        seen.add(one)
        if one == "none":
            if len(listed) > 1:
                yield f'{field} may not contain additional enforcements when "none" is specified'
        elif one not in ENFORCEMENTS:
            names = ", ".join(map(quote, ENFORCEMENTS[:-1]))
            yield f'option {quote(one)} specified for {field}. Valid options are {names} or "none"'
        else:
            yield from _enforced(c, one, field)


def _enforced(c: Mapping[str, Any], one: str, field: str) -> Iterator[str]:
    for kind, cgroup, flag in (
        ("system-reserved", "systemReservedCgroup", "system-reserved-cgroup"),
        ("kube-reserved", "kubeReservedCgroup", "kube-reserved-cgroup"),
    ):
        if one.startswith(kind) and not c[cgroup]:
            either = f"{quote(kind)} or {quote(kind + '-compressible')}"
            yield f"{cgroup} (--{flag}) must be specified when {either} included in {field}"
    if not c["cgroupsPerQOS"]:
        yield f"cgroupsPerQOS (--cgroups-per-qos) must be set to true when {quote(one)} contained in {field}"


def check_names(c: Mapping[str, Any], gates: Gates) -> Iterator[str]:
    """Yield names of choices that do not exist, and lists of images that go with one of them only."""
    hairpin = c["hairpinMode"]
    if hairpin not in HAIRPINS:
        names = f"{quote(HAIRPINS[0])}, {quote(HAIRPINS[1])} or {quote(HAIRPINS[2])}"
        yield f"option {quote(hairpin)} specified for hairpinMode (--hairpin-mode). Valid options are {names}"
    policy = c.get("imagePullCredentialsVerificationPolicy") or ""
    images = c.get("preloadedImagesVerificationAllowlist") or ()
    if not gates.on("KubeletEnsureSecretPulledImages"):
        for name, value in (
            ("imagePullCredentialsVerificationPolicy", policy),
            ("preloadedImagesVerificationAllowlist", images),
        ):
            if value:
                yield f"`{name}` must not be set if KubeletEnsureSecretPulledImages feature gate is not enabled"
        return
    if policy not in ("", *VERIFICATIONS):
        names = ", ".join(map(quote, VERIFICATIONS[:-1]))
        said = f"option {quote(policy)} specified for imagePullCredentialsVerificationPolicy"
        yield f"{said}. Valid options are {names} or {quote(VERIFICATIONS[-1])}"
    if images and policy != "NeverVerifyAllowlistedImages":
        yield (
            "can't set `preloadedImagesVerificationAllowlist` if `imagePullCredentialsVertificationPolicy` "
            'is not "NeverVerifyAllowlistedImages"'
        )
