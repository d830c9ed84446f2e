"""The statement as ValidatingAdmissionPolicies: what gets past every review meets it again on the cluster.

What differs from team to team stands as annotations on the team's namespace, which a policy reads as `namespaceObject`:
so a namespace is never under a policy without its parameters, and whoever writes runs cannot change them.

Controllers are not asked: what they make is made of objects that were. Source: kubernetes v1.35
staging/src/k8s.io/api/admissionregistration/v1/types.go; kubernetes-sigs and operators as in `workloads`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from trainyard.base.labels import NAMESPACE, TEAM
from trainyard.render.tenancy import placing, pods
from trainyard.render.tenancy.allowance import GROUP, PAIRS, SEPARATOR, WHOLE, attached_parts
from trainyard.render.tenancy.containers import CONTAINER
from trainyard.render.tenancy.devices import BLIND, BLIND_BESIDE
from trainyard.render.tenancy.fabric import BROUGHT, FABRIC, OWN
from trainyard.render.tenancy.held import held_kinds
from trainyard.render.tenancy.objects import BESIDE, META, queue_condition
from trainyard.render.tenancy.rules import RULES
from trainyard.render.tenancy.shapes import OWN as SHAPES
from trainyard.render.tenancy.shapes import YES, Fields
from trainyard.render.tenancy.variables import NAMES as NAMES_OF
from trainyard.render.tenancy.workloads import TRAINS, specs_of_runs
from trainyard.specs import Cluster
from trainyard.specs.releases import releases
from trainyard.upstream.workloads import ANY, Carrier, Template, carriers

NAMES = ("tenant-objects", "tenant-pods", "tenant-secrets", "tenant-shells")
"""The policies of the statement; the last where the fabric brings a container of its own."""

TRACKING = "argocd.argoproj.io/tracking-id"
"""What Argo CD writes on whatever it applies, over what Git has there: `<Application>:<group>/<Kind>:…`."""

SYSTEM = (
    "^system:(kube-controller-manager|kube-scheduler|apiserver|node:.*|"
    "serviceaccount:kube-system:(.*-controller|generic-garbage-collector|.*-publisher))$"
)
"""Controllers of Kubernetes itself; others of kube-system may be Argo CD's account on a cluster that it reaches."""

TYPE = "kubernetes.io/service-account-token"

LISTS = (
    *("level", "host", "registries", "keys", "queues", "priorities", "accounts", "secrets", "configmaps", "claims"),
    *("scratch", "schedulers", "runtimeclasses", "taints", "gpupools", "freepools", "capabilities", "grace"),
    *("networks", "pairs"),
    *("hostpaths", "images", "commands", "needs", "daemons", "daemonenv", "daemonmounts", "daemonvolumes"),
    *("daemonprobes", "daemononly", "runtimes", "claimtemplates", "channels", "attaching", "wholenodes", "rails"),
    "grouped",
)
"""The lists of an allowance, each a variable."""

SECRETS = {
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "resources": ["configmaps", "secrets"],
    "operations": ["CREATE", "UPDATE"],
}
"""What variables of pods come from."""

SHELLS = {
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "resources": ["pods/attach", "pods/exec"],
    "operations": ["CONNECT"],
}

PLATFORM = "authorizer.group('').resource('namespaces').name(request.namespace).check('patch').allowed()"
"""Whether somebody may change the team's namespace, and so the lists themselves."""

PEOPLE = {"name": "not-the-platform", "expression": f"!{PLATFORM}"}

PATCHES = ("trainer.kubeflow.org", "TrainJob")
"""The kind that has no pods itself, and patches those of its runtime."""

DATA = ("data", "stringData", "binaryData")
"""Where keys of Secrets and ConfigMaps stand."""

NAMED = "object.metadata.namespace"
LABELLED = f"namespaceObject.metadata.labels['{TEAM}']"
"""Whose a namespace is: by its name, where all have their team's, else by a label, which only the platform writes."""

Validation = dict[str, str]


def policies(name: str, cluster: Cluster) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the policies of a cluster, by name: each the `spec`."""
    asked = conditions(name, cluster)
    rules = [*rules_of(specs_of_runs()), *rules_of(other_objects())]
    yield NAMES[0], spec(asked, rules, [whole_variable(), *every()], in_cluster([*objects()], cluster))
    yield (
        NAMES[1],
        spec(
            asked,
            list(rules_of(dict.fromkeys(carrier_kinds()))),
            [whole_variable(), *every(), *templates()],
            in_cluster([*of_pods()], cluster),
        ),
    )
    yield NAMES[2], spec(asked, [SECRETS], [whole_variable()], list(keys()))
    if any(part.sidecars for part in attached_parts(cluster)):
        yield NAMES[3], spec([PEOPLE], [SHELLS], [whole_variable()], [shell()])


def in_cluster(validations: Sequence[Validation], cluster: Cluster) -> list[Validation]:
    """Return validations as they are written for a cluster."""
    mine = LABELLED if cluster.other_namespaces else NAMED
    texts = (placing.in_cluster(one["expression"].replace(SHAPES["team"], mine), cluster) for one in validations)
    return [{**one, "expression": text} for one, text in zip(validations, texts, strict=True)]


def binding(policy: str, cluster: Cluster) -> dict[str, Any]:
    """Return the `spec` of a policy's binding: to the namespaces of teams, by a label that nobody can write."""
    selector = {"matchExpressions": [{"key": NAMESPACE, "operator": "In", "values": list(cluster.namespaces())}]}
    return {
        "policyName": policy,
        "validationActions": ["Deny"],
        "matchResources": {"namespaceSelector": selector},
    }


def spec(
    asked: list[dict[str, str]],
    matched: list[dict[str, Any]],
    variables: list[dict[str, str]],
    validations: list[Validation],
) -> dict[str, Any]:
    """Return a policy with the lists that its expressions use."""
    text = " ".join(variable["expression"] for variable in (*variables, *validations))
    lists = [list_variable(name) for name in LISTS if f"variables.{name}" in text]
    return {
        "failurePolicy": "Fail",
        **match_constraints(matched),
        "matchConditions": asked,
        "variables": [*lists, *variables],
        "validations": validations,
    }


def match_constraints(matched: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the constraints of the objects that a policy judges."""
    return {"matchConstraints": {"resourceRules": matched}}


def conditions(name: str, cluster: Cluster) -> list[dict[str, str]]:
    """Return the conditions that leave out requests of controllers, and of Argo CD for the platform.

    Whoever says so has to be one who may change the team's namespace, since anybody can write an annotation.
    """
    known = releases()
    spaces = {known[operator].namespace for operator in cluster.operators if operator in known}
    groups = ["system:masters", *(f"system:serviceaccounts:{space}" for space in sorted(spaces - {"kube-system"}))]
    among = ", ".join(f"'{group}'" for group in groups)
    user = "request.userInfo.?username.orValue('')"
    own = f"{user}.startsWith('system:serviceaccount:' + request.namespace + ':')"
    for account in cluster.pipelines.accounts_apart(cluster.namespace_of) if cluster.pipelines else ():
        own += f" || {user} == 'system:serviceaccount:{account}'"
    applied = f"object.metadata.?annotations[?'{TRACKING}'].orValue('')"
    apps = " || ".join(f"{applied}.startsWith('{name}-{prefix}')" for prefix in ("teams-", "platform:"))
    return [
        {"name": "not-a-controller", "expression": f"!{user}.matches('{SYSTEM}')"},
        {"name": "not-an-operator", "expression": f"!request.userInfo.?groups.orValue([]).exists(g, g in [{among}])"},
        {"name": "not-the-platform", "expression": f"{own} || !({apps}) || !{PLATFORM}"},
    ]


def list_variable(name: str) -> dict[str, str]:
    """Return the variable of a list of the allowance."""
    separator = WHOLE.replace("\n", "\\n") if name in PAIRS else SEPARATOR
    text = f"namespaceObject.metadata.?annotations[?'{GROUP}/{name}'].orValue('')"
    return {"name": name, "expression": f"{text}.split('{separator}').filter(each, each != '')"}


def whole_variable() -> dict[str, str]:
    """Return the object without its type: no kind has all the fields that are asked for."""
    return {"name": "whole", "expression": "dyn(object)"}


def every() -> Iterator[dict[str, str]]:
    """Yield the variables of what an object holds, and of the object with these."""
    parts = [f"({is_of(*key)} ? {expression} : [])" for key, expression, _ in held_kinds(specs_of_runs())]
    yield {"name": "held", "expression": " + ".join(parts)}
    yield {"name": "objects", "expression": "[variables.whole] + variables.held"}


def other_objects() -> dict[tuple[str, str], None]:
    """Return the objects beside workloads that are looked at; ConfigMaps of a namespace are not runs' alone."""
    return {key: None for key in BESIDE if key != ("", "ConfigMap")}


def carrier_kinds() -> list[tuple[str, str]]:
    """Return all kinds in a namespace that pods are made of, whose runtime has them, or that hold such objects."""
    rows = [key for key, row in carriers().items() if row.namespaced and (row.templates or row.embeds)]
    return [*rows, PATCHES]


def rules_of(kinds: Iterable[tuple[str, str]]) -> Iterator[dict[str, Any]]:
    """Yield the resource rules of kinds, one a group."""
    groups: dict[str, set[str]] = defaultdict(set)
    for group, kind in kinds:
        groups[group].add(f"{kind.lower()}s")
    for group, names in sorted(groups.items()):
        yield {
            "apiGroups": [group],
            "apiVersions": ["*"],
            "resources": sorted(names),
            "operations": ["CREATE", "UPDATE"],
        }


def is_of(group: str, kind: str, x: str = "object") -> str:
    """Return the condition that an object is of a kind."""
    version = f"{x}.apiVersion.startsWith('{group}/')" if group else f"{x}.apiVersion == 'v1'"
    return f"{x}.kind == '{kind}' && {version}"


def objects() -> Iterator[Validation]:
    """Yield the validations of objects: of their metadata, and of their specification beside pods."""
    for subject, text in by_subject(META, "variables.whole.metadata", "label"):
        yield subject_validation(subject, text)
    around = {key: fields["spec"] for key, fields in BESIDE.items() if "spec" in fields}
    yield subject_validation("queue", queue_condition().cel("variables.whole"))
    for _, _, condition in held_kinds(specs_of_runs()):
        yield subject_validation("object", f"variables.held.all(h, {condition})")
    for (group, kind), shape in {**specs_of_runs(), **around}.items():
        subject = "service" if kind == "Service" else "field"
        text = shape.cel("o.spec", 1)
        if text != YES:
            yield subject_validation(subject, f"variables.objects.all(o, !({is_of(group, kind, 'o')}) || {text})", kind)


def keys() -> Iterator[Validation]:
    """Yield the validations of Secrets, and of ConfigMaps that all of a team's runs may read."""
    yield {
        "expression": f"variables.whole.?type.orValue('') != '{TYPE}'",
        "message": "a Secret of a team is no token of a service account; name the account in a job",
        "reason": "Forbidden",
    }
    read = "variables.whole.kind == 'ConfigMap' && !(variables.whole.metadata.name in variables.configmaps)"
    shown = [f"!variables.whole.?{field}.orValue({{}}).exists(k, {NAMES_OF.replace('{x}', 'k')})" for field in DATA]
    yield subject_validation("device", f"({read}) || ({' && '.join(shown)})")


def shell() -> Validation:
    """Return the validation of shells: none is in the fabric's container, which is root and has folders of the node."""
    return subject_validation("security", "!(variables.whole.?container.orValue('') in variables.daemons)")


def templates() -> Iterator[dict[str, str]]:
    """Yield the variables with pod templates, a list an object: all, those that TrainJobs patch, and launchers."""
    parts = [
        f"({is_of(group, kind, 'o')} ? {in_object(row)} : [])"
        for (group, kind), row in carriers().items()
        if is_looked(row)
    ]
    roles = "o.spec.mpiReplicaSpecs"
    led = f"{is_of('kubeflow.org', 'MPIJob', 'o')} && !{TRAINS.cel('o.spec')}"
    of_role = f"variables.led.map(o, {roles}.map(role, role {{}} 'Launcher', {roles}[role].template))"
    patches = "o.?spec.?runtimePatches.orValue([])"
    patched = "p.?trainingRuntimeSpec.?template.?spec.?replicatedJobs.orValue([])"
    inner = f"{patched}.map(j, j.?template.?spec.?template.hasValue(), j.template.spec.template)"
    of_trainer = is_of(*PATCHES, "o")
    yield {"name": "patches", "expression": f"variables.objects.map(o, {of_trainer}, {patches}.map(p, {inner}))"}
    yield {"name": "led", "expression": f"variables.objects.filter(o, {led})"}
    others = f"variables.objects.filter(o, !({led})).map(o, {in_groups(parts)})"
    yield {"name": "seeing", "expression": f"{others} + {of_role.format('!=')}"}
    yield {"name": "launchers", "expression": of_role.format("==")}
    yield {"name": "templates", "expression": "variables.seeing + variables.launchers"}


def in_groups(lists: list[str], size: int = 8) -> str:
    """Return lists put together, so that no chain of them is long: its length is how deep an expression is nested."""
    return " + ".join(f"({' + '.join(lists[at : at + size])})" for at in range(0, len(lists), size))


def is_looked(row: Carrier) -> bool:
    """Whether a kind has pods in its namespace."""
    return row.namespaced and bool(row.templates)


def in_object(row: Carrier) -> str:
    """Return the expression of a kind's pod templates."""
    return " + ".join(at(template) for template in row.templates)


def at(template: Template) -> str:
    """Return the expression of the templates at a pattern, of which one part at most is `*`."""
    steps = [str(step) for step in template.pattern]
    if not steps:
        return "[o]"
    if ANY not in steps:
        return f"[?o{''.join(f'.?{step}' for step in steps)}]"
    index = steps.index(ANY)
    before, after = steps[:index], steps[index + 1 :]
    holder = f"o{''.join(f'.?{step}' for step in before)}"
    item, way = "item", "".join(f".?{step}" for step in after)
    if template.roles is not None:
        item = f"o.{'.'.join(before)}[key]"
        return f"{holder}.orValue({{}}).map(key, {item}{way}.hasValue(), {item}.{'.'.join(after)})"
    return f"{holder}.orValue([]).map(item, {item}{way}.hasValue(), {item}.{'.'.join(after)})"


def of_pods() -> Iterator[Validation]:
    """Yield the validations of every pod template."""
    metadata, body = pods.LAUNCHED.fields["metadata"], pods.LAUNCHED.fields["spec"]
    for condition in pods.LAUNCHED.conditions:
        yield subject_validation(condition.subject or "field", in_all("templates", condition.cel("t", 2)))
    yield subject_validation("label", in_all("templates", f"!has(t.metadata) || {metadata.cel('t.metadata', 2)}"))
    assert isinstance(body, Fields)
    for subject, text in by_subject(body, "t.spec", "field", depth=2):
        yield subject_validation(subject, in_all("templates", text))
    for subject, among, one in (("field", OWN, CONTAINER), ("security", BROUGHT, FABRIC)):
        containers = f"{among.replace('{x}', 't.spec')}.all(c, {one.cel('c', 3)})"
        yield subject_validation(subject, in_all("templates", containers))
    yield subject_validation("device", in_all("seeing", BLIND.cel("t.spec", 2)))
    yield subject_validation("device", in_all("launchers", BLIND_BESIDE.cel("t.spec", 2)), "MPIJob")
    yield subject_validation(
        "field", f"variables.patches.all(o, o.all(l, l.all(t, {pods.PATCH.cel('t', 3)})))", "TrainJob"
    )


def in_all(variable: str, condition: str) -> str:
    """Return the CEL expression for a condition that holds for every template `t` of a variable."""
    return f"variables.{variable}.all(l, l.all(t, {condition}))"


def by_subject(shape: Fields, x: str, other: str, depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield the conditions on a map, those about one subject together."""
    found: dict[str, list[str]] = defaultdict(list)
    for subject, text in shape.parts(x, depth):
        found[subject or other].append(text)
    yield from ((subject, " && ".join(texts)) for subject, texts in found.items())


def subject_validation(subject: str, expression: str, kind: str = "") -> Validation:
    """Return a validation of a subject."""
    rule = RULES[subject]
    message = f"{f'{kind}: ' if kind else ''}{rule.title.rstrip('.')} ({rule.id})"
    return {"expression": expression, "message": message, "reason": "Forbidden"}
