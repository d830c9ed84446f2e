"""When pods and single containers are started again."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.upstream.apiserver.core.pods.options import Options
from trainyard.upstream.apiserver.core.pods.rules import CONTAINER_RESTART, RESTART
from trainyard.upstream.apiserver.core.shapes import Object, child, count, each
from trainyard.upstream.apiserver.problems import Path, Problem

POLICIES = ("Always", "OnFailure", "Never")
_CONTAINER_POLICIES = ("Always", "Never", "OnFailure")
_MOST_RULES = 20
_MOST_CODES = 255


def check_restart_policy(spec: Object, path: Path) -> Iterator[Problem]:
    """Yield a policy of the pod that does not exist; none means Always."""
    policy = spec.get("restartPolicy") or "Always"
    if policy not in POLICIES:
        yield RESTART.unsupported((*path, "restartPolicy"), policy, POLICIES)


def check_container_restarts(
    container: Object, path: Path, options: Options, *, init: bool = False
) -> Iterator[Problem]:
    """Yield the problems with a container's own policy and rules.

    Before Kubernetes 1.35 the server drops them (gate ContainerRestartRules), but for a sidecar's Always.
    """
    policy, rules = container.get("restartPolicy"), count(container, "restartPolicyRules")
    if not options.restart_rules:
        return
    if init and policy == "Always" and not options.restart_all:
        if rules:
            at = (*path, "restartPolicyRules")
            yield CONTAINER_RESTART.forbidden(at, "not allowed for init containers with restart policy Always")
        return
    if policy is None:
        if rules:
            at = (*path, "restartPolicy")
            yield CONTAINER_RESTART.required(at, "must be specified when restart rules are used")
    elif policy not in _CONTAINER_POLICIES:
        yield CONTAINER_RESTART.unsupported((*path, "restartPolicy"), policy, _CONTAINER_POLICIES)
    if rules > _MOST_RULES:
        yield CONTAINER_RESTART.too_many((*path, "restartPolicyRules"), rules, _MOST_RULES)
    for index, rule in each(container, "restartPolicyRules"):
        yield from _check_rule(rule, (*path, "restartPolicyRules", index), options)


def _check_rule(rule: Object, path: Path, options: Options) -> Iterator[Problem]:
    actions = ("Restart", "RestartAllContainers") if options.restart_all else ("Restart",)
    action = rule.get("action") or ""
    if action not in actions:
        yield CONTAINER_RESTART.unsupported((*path, "action"), action, actions)
    if (codes := child(rule, "exitCodes")) is None:
        yield CONTAINER_RESTART.required((*path, "exitCodes"), "must be specified")
        return
    operator = codes.get("operator") or ""
    if operator not in ("In", "NotIn"):
        yield CONTAINER_RESTART.unsupported((*path, "exitCodes", "operator"), operator, ("In", "NotIn"))
    if (values := count(codes, "values")) > _MOST_CODES:
        yield CONTAINER_RESTART.too_many((*path, "exitCodes", "values"), values, _MOST_CODES)
