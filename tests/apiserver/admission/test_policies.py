"""Admission policies: a real kube-apiserver 1.35.4 judged each case the same, except where we say unknown."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import pytest

from conftest import ROOT
from trainyard.upstream.apiserver import catalog
from trainyard.upstream.apiserver.admission import policies
from trainyard.upstream.apiserver.admission.policies import Request, Surroundings, typecheck
from trainyard.upstream.apiserver.catalog.served import from_crd
from trainyard.upstream.apiserver.cel import CompileError

RULE = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["CREATE", "UPDATE"]}
DENY = {"validationActions": ["Deny"]}
CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap"}
NAMESPACE = {"metadata": {"name": "team", "labels": {"env": "prod"}}}


def config_map(name: str = "it", labels: dict[str, str] | None = None, **data: str) -> dict[str, Any]:
    """A ConfigMap of the team."""
    metadata = {"name": name, "namespace": "team", **({"labels": labels} if labels else {})}
    return {**CONFIG_MAP, "metadata": metadata, "data": data}


def check(expression: str, **more: str) -> dict[str, str]:
    """One validation."""
    return {"expression": expression, **more}


def variable(name: str, expression: str) -> dict[str, str]:
    """One variable, or one match condition."""
    return {"name": name, "expression": expression}


NEVER = [check("false", message="no")]


def make_policy(validations: list[dict[str, str]], *, rules: Any = (RULE,), **spec: Any) -> dict[str, Any]:
    """A policy for ConfigMaps."""
    constraints = {"resourceRules": list(rules), **spec.pop("constraints", {})}
    return {"metadata": {"name": "it"}, "spec": {"matchConstraints": constraints, "validations": validations, **spec}}


def decisions(
    value: dict[str, Any],
    new: dict[str, Any],
    *,
    old: dict[str, Any] | None = None,
    bindings: Any = (DENY,),
    around: Surroundings | None = None,
    resource: policies.Resource | None = None,
) -> list[str]:
    """What a policy with its bindings decides: `Deny: message`."""
    policy = policies.load(value, minor=35)
    bound = [policies.load_binding({"metadata": {"name": "b"}, "spec": spec}) for spec in bindings]
    group, _, version = new["apiVersion"].rpartition("/")
    named = resource or policies.guess(group, version, new["kind"])
    request = Request(named, new, old, "CREATE" if old is None else "UPDATE")
    known = around or Surroundings({"team": NAMESPACE}, complete=True)
    return [f"{item.action}: {item.message}" for item in policies.judge([(policy, bound)], request, known)]


K = "object.data.k == 'v'"
BAD_VARIABLE = "expression 'variables.bad == 1' resulted in error: composited variable \"bad\" fails to evaluate"
VALIDATIONS = {
    "it holds": ([check(K)], {}, []),
    "it does not": ([check("object.data.k == 'w'")], {}, ["Deny: failed expression: object.data.k == 'w'"]),
    "its message": ([check("object.data.k == 'w'", message=" say w ")], {}, ["Deny: say w"]),
    "a message from an expression": (
        [check("object.data.k == 'w'", message="m", messageExpression="'k is ' + object.data.k")],
        {},
        ["Deny: k is v"],
    ),
    "a message that fails": ([check("false", message="m", messageExpression="object.data.q")], {}, ["Deny: m"]),
    "a message of two lines": ([check("false", message="m", messageExpression="'a\\nb'")], {}, ["Deny: m"]),
    "an error refuses": (
        [check("object.data.q == 'v'")],
        {},
        ["Deny: expression 'object.data.q == 'v'' resulted in error: no such key: q"],
    ),
    "an error is ignored": ([check("object.data.q == 'v'")], {"failurePolicy": "Ignore"}, []),
    "what is false is not": ([check("1 == 2", message="m")], {"failurePolicy": "Ignore"}, ["Deny: m"]),
    "variables see those before": (
        [check("variables.b == 'vv'")],
        {"variables": [variable("a", "object.data.k"), variable("b", "variables.a + variables.a")]},
        [],
    ),
    "variables are lazy": (
        [check("true || variables.bad == 1")],
        {"variables": [variable("bad", "int(object.data.k)")]},
        [],
    ),
    "a variable that fails": (
        [check("variables.bad == 1")],
        {"variables": [variable("bad", "int(object.data.k)")]},
        [f"Deny: {BAD_VARIABLE}: type conversion error from 'string' to 'int'"],
    ),
    "a variable may be an optional": (
        [check("variables.o.orValue('z') == 'z'")],
        {"variables": [variable("o", "object.?data.?nope")]},
        [],
    ),
    "a condition holds": (NEVER, {"matchConditions": [variable("c", K)]}, ["Deny: no"]),
    "a condition does not": (NEVER, {"matchConditions": [variable("c", "object.data.k == 'w'")]}, []),
    "a condition fails": (
        NEVER,
        {"matchConditions": [variable("c", "object.data.q == 'w'")]},
        ["Deny: expression 'object.data.q == 'w'' resulted in error: no such key: q"],
    ),
    "a condition fails and errors are ignored": (
        NEVER,
        {"matchConditions": [variable("c", "object.data.q == 'w'")], "failurePolicy": "Ignore"},
        [],
    ),
    "one condition fails, another is false": (
        NEVER,
        {"matchConditions": [variable("c", "object.data.q == 'w'"), variable("d", "false")]},
        [],
    ),
    "conditions see no namespace": (NEVER, {"matchConditions": [variable("c", "namespaceObject != null")]}, []),
    "the request": (
        [check("request.operation == 'CREATE' && request.kind.kind == 'ConfigMap' && request.namespace == 'team'")],
        {},
        [],
    ),
    "no subresource": ([check("!has(request.subResource)")], {}, []),
    "no old object": ([check("oldObject == null")], {}, []),
    "the namespace": ([check("namespaceObject.metadata.labels['env'] == 'prod'")], {}, []),
    "the namespace's own label": ([check("'kubernetes.io/metadata.name' in namespaceObject.metadata.labels")], {}, []),
    "the namespace is active": ([check("namespaceObject.status.phase == 'Active'")], {}, []),
    "the server has given a uid": ([check("has(object.metadata.uid)")], {}, []),
    "objects are plain: no escaped names": (
        [check("object.data.a__b == 'x'")],
        {},
        ["Deny: expression 'object.data.a__b == 'x'' resulted in error: no such key: a__b"],
    ),
    "has asks anything": ([check("!has(object.data.k.q)")], {}, []),
    "resources by name": (NEVER, {"rules": [{**RULE, "resourceNames": ["other"]}]}, []),
    "resources by that name": (NEVER, {"rules": [{**RULE, "resourceNames": ["other", "it"]}]}, ["Deny: no"]),
    "cluster scope": (NEVER, {"rules": [{**RULE, "scope": "Cluster"}]}, []),
    "namespaced scope": (NEVER, {"rules": [{**RULE, "scope": "Namespaced"}]}, ["Deny: no"]),
    "deletes alone": (NEVER, {"rules": [{**RULE, "operations": ["DELETE"]}]}, []),
    "all resources": (
        NEVER,
        {"rules": [{"apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"], "operations": ["*"]}]},
        ["Deny: no"],
    ),
    "a subresource": (NEVER, {"rules": [{**RULE, "resources": ["configmaps/status"]}]}, []),
    "a resource and all below": (NEVER, {"rules": [{**RULE, "resources": ["configmaps/*"]}]}, ["Deny: no"]),
    "excluded": (NEVER, {"constraints": {"excludeResourceRules": [{**RULE, "resourceNames": ["it"]}]}}, []),
    "a label": (NEVER, {"constraints": {"objectSelector": {"matchLabels": {"a": "b"}}}}, ["Deny: no"]),
    "another label": (NEVER, {"constraints": {"objectSelector": {"matchLabels": {"a": "c"}}}}, []),
    "a namespace": (NEVER, {"constraints": {"namespaceSelector": {"matchLabels": {"env": "prod"}}}}, ["Deny: no"]),
    "another namespace": (NEVER, {"constraints": {"namespaceSelector": {"matchLabels": {"env": "dev"}}}}, []),
    "who asks is unknown": (
        [check("request.userInfo.username == 'me'", message="not you")],
        {},
        ["Unknown: cannot be checked without the requesting user: not you"],
    ),
    "who asks does not matter": ([check(f"{K} || request.userInfo.username == 'me'")], {}, []),
    "the authorizer of the request is unknown": (
        [check("authorizer.requestResource.check('create').allowed()", message="may not")],
        {},
        ["Unknown: cannot be checked without the authorizer: may not"],
    ),
    "the authorizer is unknown": (
        [check("authorizer.group('').resource('pods').check('create').allowed()", message="no pods")],
        {},
        ["Unknown: cannot be checked without the authorizer: no pods"],
    ),
    "the uid is unknown": (
        [check("object.metadata.uid != ''", message="uid")],
        {},
        ["Unknown: cannot be checked without the uid that the server sets: uid"],
    ),
}


@pytest.mark.parametrize(("validations", "spec", "right"), VALIDATIONS.values(), ids=VALIDATIONS)
def test_policy_decides_as_the_server_does(validations, spec, right):
    """A policy on a new ConfigMap, by its matching, its expressions and its messages."""
    assert decisions(make_policy(validations, **spec), config_map(labels={"a": "b"}, k="v")) == right


ACTIONS = {
    "warnings": ([{"validationActions": ["Warn"]}], ["Warn: no"]),
    "audit alone": ([{"validationActions": ["Audit"]}], ["Audit: no"]),
    "two bindings": ([{"validationActions": ["Warn"]}, DENY], ["Warn: no", "Deny: no"]),
    "no binding": ([], []),
    "a binding elsewhere": ([{**DENY, "matchResources": {"namespaceSelector": {"matchLabels": {"env": "dev"}}}}], []),
    "a binding here": (
        [{**DENY, "matchResources": {"namespaceSelector": {"matchLabels": {"env": "prod"}}}}],
        ["Deny: no"],
    ),
    "a binding of other resources": (
        [{**DENY, "matchResources": {"resourceRules": [{**RULE, "resources": ["secrets"]}]}}],
        [],
    ),
}


@pytest.mark.parametrize(("bindings", "right"), ACTIONS.values(), ids=ACTIONS)
def test_bindings_decide_what_follows(bindings, right):
    """A binding says where a policy is in effect, and what a refusal does."""
    assert decisions(make_policy(NEVER), config_map(k="v"), bindings=bindings) == right


UPDATES = {
    "the operation": ([check("request.operation == 'UPDATE'")], {}, []),
    "the old object": ([check("object.data.k == oldObject.data.k", message="k stays")], {}, ["Deny: k stays"]),
    "creates alone": (NEVER, {"rules": [{**RULE, "operations": ["CREATE"]}]}, []),
    "a label of the old object": (
        NEVER,
        {"constraints": {"objectSelector": {"matchLabels": {"a": "b"}}}},
        ["Deny: no"],
    ),
}


@pytest.mark.parametrize(("validations", "spec", "right"), UPDATES.values(), ids=UPDATES)
def test_updates_know_the_object_before(validations, spec, right):
    """A policy on a change sees both objects."""
    old = config_map(labels={"a": "b"}, k="w")
    assert decisions(make_policy(validations, **spec), config_map(k="v"), old=old) == right


def by_name(name: str, **more: str) -> dict[str, Any]:
    """A binding with one parameter object."""
    return {**DENY, "paramRef": {"name": name, **more}}


WANT = [check("object.data.k == params.data.want", messageExpression="'want ' + params.data.want")]
PARAMS = {
    "they agree": (WANT, by_name("right"), {}, []),
    "they do not": (WANT, by_name("wrong"), {}, ["Deny: want w"]),
    "all that a selector takes": (
        WANT,
        {**DENY, "paramRef": {"selector": {"matchLabels": {"a": "b"}}}},
        {},
        ["Deny: want w", "Deny: want x"],
    ),
    "missing and needed": (
        WANT,
        by_name("none", parameterNotFoundAction="Deny"),
        {},
        ["Deny: failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction"],
    ),
    "missing and ignored": (WANT, by_name("none", parameterNotFoundAction="Deny"), {"failurePolicy": "Ignore"}, []),
    "missing and not needed": (NEVER, by_name("none", parameterNotFoundAction="Allow"), {}, []),
    "a binding without parameters": ([check("params == null")], DENY, {}, []),
}


@pytest.mark.parametrize(("validations", "binding", "spec", "right"), PARAMS.values(), ids=PARAMS)
def test_parameters_come_from_objects(validations, binding, spec, right):
    """A binding hands a policy its parameters, or says what their absence means."""
    given = (
        config_map("right", want="v"),
        config_map("wrong", {"a": "b"}, want="w"),
        config_map("other", {"a": "b"}, want="x"),
    )
    value = make_policy(validations, paramKind=CONFIG_MAP, **spec)
    around = Surroundings({"team": NAMESPACE}, given, complete=True)
    assert decisions(value, config_map(k="v"), bindings=[binding], around=around) == right


def test_what_is_not_among_the_files_is_unknown():
    """A stranger's files may leave out the namespace and the parameters that the cluster has."""
    nothing = Surroundings()
    labelled = make_policy(NEVER, constraints={"namespaceSelector": {"matchLabels": {"env": "prod"}}})
    assert decisions(labelled, config_map(), around=nothing) == [
        "Unknown: may apply, depending on the labels of namespace 'team': no"
    ]
    by_own_label = {
        "matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["team"]}]
    }
    assert (
        decisions(make_policy(NEVER, constraints={"namespaceSelector": by_own_label}), config_map(), around=nothing)
        == []
    )
    asking = make_policy([check("namespaceObject.metadata.labels['env'] == 'prod'", message="prod")])
    assert decisions(asking, config_map(), around=nothing) == [
        "Unknown: cannot be checked without namespace 'team': prod"
    ]
    taking = make_policy([check("params.data.x == 'y'", message="x")], paramKind=CONFIG_MAP)
    assert decisions(taking, config_map(), bindings=[by_name("p")], around=nothing) == [
        "Unknown: cannot be checked without the parameters ConfigMap team/p: x"
    ]


POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "it", "namespace": "team"}}
CONTAINERS = {"containers": [{"name": "c", "image": "i"}]}
ADDED = {
    "the account": ("object.spec.serviceAccountName == 'default'", {}, True),
    "the account that is named": ("object.spec.serviceAccountName == 'mine'", {"serviceAccountName": "mine"}, True),
    "a priority": ("object.spec.priority == 0", {}, True),
    "no priority where a class decides": ("has(object.spec.priority)", {"priorityClassName": "high"}, False),
    "tolerations of outages": ("object.spec.tolerations.size() == 2", {}, True),
    "none that is there already": (
        "object.spec.tolerations.size() == 1",
        {"tolerations": [{"operator": "Exists"}]},
        True,
    ),
    "resources, though empty": ("object.spec.containers.all(c, has(c.resources))", {}, True),
    "the token of the account": ("object.spec.volumes.exists(v, has(v.projected))", {}, True),
    "no token that is refused": ("has(object.spec.volumes)", {"automountServiceAccountToken": False}, False),
}


@pytest.mark.parametrize(("expression", "spec", "right"), ADDED.values(), ids=ADDED)
def test_policies_see_what_admission_adds_to_pods(expression, spec, right):
    """Account, priority, tolerations and token are there before a policy is asked."""
    rules = [{**RULE, "resources": ["pods"]}]
    pod = {**POD, "spec": {**CONTAINERS, **spec}}
    assert decisions(make_policy([check(expression)], rules=rules), pod) == (
        [] if right else [f"Deny: failed expression: {expression}"]
    )


def test_the_address_of_a_service_is_the_servers():
    """By the time a policy is asked a Service has one, whichever."""
    service = {"apiVersion": "v1", "kind": "Service", "metadata": POD["metadata"], "spec": {"type": "ClusterIP"}}
    policy = make_policy(
        [check("object.spec.clusterIP == ''", message="no")], rules=[{**RULE, "resources": ["services"]}]
    )
    assert decisions(policy, service) == [
        "Unknown: cannot be checked without the address that the server gives the Service: no"
    ]


def test_parameters_that_may_not_exist():
    """Where none are found, a binding refuses or passes by what it says: what is not known is never passed over."""
    around = Surroundings({"team": NAMESPACE})
    for action, right in {"Deny": "refuses the object if there are none", "Allow": ""}.items():
        binding = {**DENY, "paramRef": {"name": "p", "parameterNotFoundAction": action}}
        policy = make_policy([check("true || params.data.x == 'y'")], paramKind=CONFIG_MAP)
        found = decisions(policy, config_map(), bindings=[binding], around=around)
        assert [right in item for item in found] == ([True] if right else [])
    policy = make_policy([check("false", message="no")], paramKind=CONFIG_MAP)
    assert decisions(policy, config_map(), bindings=[binding], around=around) == [
        "Unknown: may apply, depending on the parameters ConfigMap team/p: no"
    ]


def test_a_policy_that_passes_anyway_needs_nothing():
    """What does not depend on the unknown is decided."""
    value = make_policy([check("true")], constraints={"namespaceSelector": {"matchLabels": {"env": "prod"}}})
    assert decisions(value, config_map(), around=Surroundings()) == []


def test_namespaces_are_judged_by_their_own_labels():
    """A namespace is cluster-scoped, and its selector looks at the namespace as it will be."""
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "new", "labels": {"env": "prod"}}}
    rules = [{**RULE, "resources": ["namespaces"], "scope": "Cluster"}]
    selector = {"namespaceSelector": {"matchLabels": {"env": "prod"}}}
    asked = [check("request.namespace == 'new' && namespaceObject == null"), *NEVER]
    assert decisions(make_policy(asked, rules=rules, constraints=selector), namespace) == ["Deny: no"]
    selector["namespaceSelector"]["matchLabels"]["env"] = "dev"
    assert decisions(make_policy(asked, rules=rules, constraints=selector), namespace) == []


def test_cluster_scoped_objects_are_in_no_namespace():
    """A namespace selector never keeps a policy from a cluster-scoped object, and parameters need a namespace."""
    priority = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1}
    rules = [{**RULE, "apiGroups": ["scheduling.k8s.io"], "resources": ["priorityclasses"]}]
    selector = {"namespaceSelector": {"matchLabels": {"never": "there"}}}
    asked = [check("!has(request.namespace)"), *NEVER]
    assert decisions(make_policy(asked, rules=rules, constraints=selector), priority) == ["Deny: no"]
    value = make_policy(NEVER, rules=rules, paramKind=CONFIG_MAP)
    assert decisions(value, priority, bindings=[by_name("p")]) == [
        (
            "Deny: failed to configure binding: cannot use namespaced paramRef in policy binding that matches "
            "cluster-scoped resources"
        )
    ]


def test_policies_are_not_asked_about_policies():
    """A policy that refuses everything can still be mended."""
    rules = [{"apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"], "operations": ["*"]}]
    own = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "x"},
    }
    assert decisions(make_policy(NEVER, rules=rules), own) == []


QUEUE = {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "LocalQueue", "metadata": {"name": "q", "namespace": "team"}}
QUEUES = policies.guess("kueue.x-k8s.io", "v1beta1", "LocalQueue")
NEWER = [{**RULE, "apiGroups": ["kueue.x-k8s.io"], "apiVersions": ["v1beta2"], "resources": ["localqueues"]}]


def test_other_versions_are_equivalent():
    """A rule for one version takes requests for another, converted, unless it says Exact."""
    said = "object.apiVersion + ' ' + request.kind.version + ' ' + request.requestKind.version"
    value = make_policy([check("false", messageExpression=said)], rules=NEWER)
    both = replace(QUEUES, equivalents=(replace(QUEUES, version="v1beta2"),))
    assert decisions(value, QUEUE, resource=both) == ["Deny: kueue.x-k8s.io/v1beta2 v1beta2 v1beta1"]
    exact = copy.deepcopy(value)
    exact["spec"]["matchConstraints"]["matchPolicy"] = "Exact"
    assert decisions(exact, QUEUE, resource=both) == []
    hook = replace(QUEUES, equivalents=(replace(QUEUES, version="v1beta2", convertible=False),))
    assert decisions(value, QUEUE, resource=hook) == [
        "Unknown: the object in version v1beta2 is known only to the server"
    ]


def test_names_that_the_server_makes_are_unknown():
    """An object with generateName has a name by the time policies look at it, but which is not known."""
    value = make_policy([check("has(object.metadata.name)"), check("object.metadata.name != 'x'", message="name")])
    unnamed = {**CONFIG_MAP, "metadata": {"generateName": "a-", "namespace": "team"}}
    assert decisions(value, unnamed) == ["Unknown: cannot be checked without the name that the server generates: name"]


def test_decision_points_at_the_part_that_breaks_the_rule():
    """A finding can name the container, not just the pod."""
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "team"},
        "spec": {"containers": [{"name": "a", "image": "x:1"}, {"name": "b", "image": "x:latest"}]},
    }
    value = make_policy(
        [check("variables.all.all(c, !c.image.endsWith(':latest'))", message="pin it")],
        rules=[{**RULE, "resources": ["pods"]}],
        variables=[variable("all", "object.spec.containers + object.spec.?initContainers.orValue([])")],
    )
    policy = policies.load(value, minor=35)
    request = Request(policies.guess("", "v1", "Pod"), pod)
    (found,) = policies.judge([(policy, [policies.bound_everywhere(policy)])], request, Surroundings())
    assert found.path == ("spec", "containers", 1)


COMPILES = {
    "a dyn result is no bool": ({"validations": [check("object.spec.x")]}, "must evaluate to bool, not dyn"),
    "conditions have no variables": (
        {"matchConditions": [variable("c", "variables.a")]},
        "undeclared reference to 'variables'",
    ),
    "messages ask no authorizer": (
        {"validations": [check("true", messageExpression="authorizer.path('/').check('get').reason()")]},
        "undeclared reference to 'authorizer'",
    ),
    "no parameters without a kind": ({"validations": [check("params.x == 1")]}, "undeclared reference to 'params'"),
    "variables in their order": (
        {"variables": [variable("a", "variables.b"), variable("b", "1")]},
        "undefined field 'b'; there are none",
    ),
    "an annotation is text or null": (
        {"auditAnnotations": [{"key": "a", "valueExpression": "1"}]},
        "must evaluate to string or null_type, not int",
    ),
    "request has its fields": ({"validations": [check("request.users == 1")]}, "undefined field 'users'"),
}


@pytest.mark.parametrize(("spec", "message"), COMPILES.values(), ids=COMPILES)
def test_expressions_that_do_not_compile_are_known_at_load(spec, message):
    """A policy says of each of its expressions where it is and why it does not compile."""
    policy = policies.load({"metadata": {"name": "it"}, "spec": spec}, minor=35)
    wrong = [expression for expression in policy.expressions() if isinstance(expression.compiled, CompileError)]
    assert len(wrong) == 1
    assert str(wrong[0].compiled).startswith(message)
    assert wrong[0].path[0] == "spec"


def make_kinds() -> list[Any]:
    """Two kinds with a spec each."""
    found = []
    for kind, fields in {"Run": {"nodes": {"type": "integer"}}, "Batch": {"size": {"type": "integer"}}}.items():
        schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": fields}}}
        version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
        names = {"kind": kind, "plural": policies.guess("", "v1", kind).plural}
        spec = {"group": "example.com", "names": names, "versions": [version]}
        found.append(from_crd({"spec": spec})["example.com", kind]["v1"])
    return found


TYPES = {
    "a field that both have": ("object.metadata.labels['a'] == 'b'", []),
    "a field that one has": ("object.spec.nodes > 1", []),
    "a field that none has": ("object.spec.node > 1", ["undefined field 'node'; did you mean 'nodes'?"]),
    "a field of metadata": ("object.metadata.label == 'b'", ["undefined field 'label'; did you mean 'labels'?"]),
    "a field below one that none has": ("object.specs.nodes > 1", ["undefined field 'specs'; did you mean 'spec'?"]),
    "types that do not agree": (
        "object.metadata.name == 1",
        ["found no matching overload for '_==_' applied to '(string, int)'"],
    ),
}


@pytest.mark.parametrize(("expression", "right"), TYPES.values(), ids=TYPES)
def test_policies_are_checked_against_the_schemas(expression, right):
    """A field that no kind of the policy has is an error at load, though the server only warns."""
    rules = [{**RULE, "apiGroups": ["example.com"], "apiVersions": ["*"], "resources": ["runs", "batches"]}]
    kinds = make_kinds()
    kinds[1] = replace(kinds[1], plural="batches")
    found = typecheck.check(make_policy([check(expression)], rules=rules), kinds, minor=35)
    assert [item.message for item in found] == right
    assert all(item.path == ("spec", "validations", 0, "expression") for item in found)


@pytest.mark.parametrize(
    "kubernetes", [pytest.param("1.34", marks=pytest.mark.slow), "1.35", pytest.param("1.36", marks=pytest.mark.slow)]
)
def test_own_policies_fit_the_schemas(kubernetes):
    """The policies of this repository compile on every release, also as new ones, and read fields that exist."""
    from trainyard.base.documents import load

    known, _ = catalog.load(ROOT / "schemas", kubernetes=kubernetes)
    for path in sorted((ROOT / "policies").glob("*.yaml")):
        value = load(path.read_bytes(), file=path.name)[0][0].value
        for minor in (int(kubernetes[2:]) - 1, int(kubernetes[2:])):
            assert typecheck.check(value, known.served(), minor=minor) == []
