"""What holds of every decision, whatever Kueue says: laws of quota, of names, and of victims."""

from __future__ import annotations

import json
import random

import pytest

from kueue.worlds import case
from trainyard.upstream.kueue.model.amounts import LOWEST, UNLIMITED, minus, plus, requested_amount
from trainyard.upstream.kueue.model.queues import Quota
from trainyard.upstream.kueue.preempt.alike import Alike
from trainyard.upstream.kueue.quota.shares import share, share_without, shares_with
from trainyard.upstream.kueue.quota.tree import QuotaNode
from trainyard.upstream.kueue.replay import replay

KEY = ("flavor", "cpu")


def alone(seed):
    """The cluster of a seed with one Workload, nothing held, and what it would get."""
    one = case(seed)
    work = [item for item in one["objects"] if item["kind"] == "Workload"]
    others = [item for item in one["objects"] if item["kind"] != "Workload"]
    return {**one, "mode": "nominate", "admitted": [], "objects": [*others, work[seed % len(work)]]}


def nomination(one):
    """What the one Workload would get, None where it is not considered."""
    (found,) = replay(one)["workloads"].values()
    return found.get("nomination")


def more_quota(one):
    """The same cluster with more quota everywhere."""
    grown = json.loads(json.dumps(one))
    for item in grown["objects"]:
        for group in item.get("spec", {}).get("resourceGroups") or ():
            for flavor in group["flavors"]:
                for quota in flavor["resources"]:
                    quota["nominalQuota"] = f"{requested_amount('memory', quota['nominalQuota']) + 2**31}"
    return grown


def test_more_quota_takes_nothing_away():
    """What fits on an empty cluster fits with more quota, whatever the limits of borrowing and lending."""
    fits = 0
    for seed in range(10_000, 10_150):
        one = alone(seed)
        found = nomination(one)
        if found and found["mode"] == "Fit" and not one["config"].get("featureGates"):
            fits += 1
            assert nomination(more_quota(one))["mode"] == "Fit", seed
    assert fits >= 40


def test_names_do_not_decide():
    """With other names of Workloads that keep their order, the same ones are admitted, with the same flavors."""
    for seed in range(11_000, 11_045):
        one = {**case(seed), "mode": "settle"}
        text = json.dumps(one)
        for number in range(12):
            text = text.replace(f'"w{number:02}"', f'"other-w{number:02}"')
        before, after = replay(one).get("workloads", {}), replay(json.loads(text)).get("workloads", {})
        for key, found in before.items():
            renamed = after[key.replace("/w", "/other-w")]
            assert renamed["outcome"] == found["outcome"], (seed, key)
            assert renamed.get("podSets") == found.get("podSets"), (seed, key)


def with_multiple(one, factor):
    """The same cluster with one more resource, of which everybody has and asks for so many times as much as of CPUs."""
    grown = json.loads(json.dumps(one))
    for item in grown["objects"]:
        spec = item.get("spec", {})
        for group in spec.get("resourceGroups") or ():
            if "cpu" in group["coveredResources"]:
                group["coveredResources"].append("multiple")
                for flavor in group["flavors"]:
                    quota = next(row for row in flavor["resources"] if row["name"] == "cpu")
                    more = {name: text if name == "name" else times(text, factor) for name, text in quota.items()}
                    flavor["resources"].append({**more, "name": "multiple"})
        for row in spec.get("podSets") or ():
            for container in row["template"]["spec"]["containers"]:
                requests = (container.get("resources") or {}).get("requests") or {}
                if "cpu" in requests:
                    requests["multiple"] = times(requests["cpu"], factor)
        for amounts in [(item.get("status") or {}).get("allocatable")]:
            if amounts and "cpu" in amounts:
                amounts["multiple"] = times(amounts["cpu"], factor)
    return grown


def times(text, factor):
    """So many times an amount of thousandths."""
    return str(requested_amount("cpu", text) * factor)


def test_a_multiple_of_a_resource_decides_nothing():
    """Whoever is admitted or has to go, and where pods stand, is the same with a resource that goes along with CPUs."""
    victims = 0
    for seed in range(14_000, 14_040):
        one = case(seed)
        if one["config"].get("resources") or "multiple" in json.dumps(one):
            continue
        before, after = replay(one).get("workloads", {}), replay(with_multiple(one, 3)).get("workloads", {})
        for key, found in before.items():
            for name in ("outcome", "evictions", "victims"):
                assert after[key].get(name) == found.get(name), (seed, key)
            mine, theirs = (item.get("nomination") or {} for item in (found, after[key]))
            assert mine.get("targets") == theirs.get("targets"), (seed, key)
            victims += len(found.get("victims") or mine.get("targets") or ())
    assert victims >= 5


def test_what_fits_is_within_what_could_be_had():
    """Usage of queues without preexisting debt never exceeds what they could have of a flavor."""
    seen = 0
    for seed in range(12_000, 12_080):
        one = {**case(seed), "mode": "settle", "admitted": []}
        answer = replay(one)
        for name, queue in answer["clusterQueues"].items():
            spec = next(item["spec"] for item in one["objects"] if item["metadata"]["name"] == name)
            if spec.get("cohortName"):
                continue
            quotas = {
                (flavor["name"], quota["name"]): requested_amount(quota["name"], quota["nominalQuota"])
                for group in spec["resourceGroups"]
                for flavor in group["flavors"]
                for quota in flavor["resources"]
            }
            for flavor, used in queue.get("usage", {}).items():
                for resource, amount in used.items():
                    seen += 1
                    assert requested_amount(resource, amount) <= quotas[flavor, resource], (seed, name)
    assert seen >= 10


def test_victims_are_no_more_than_needed():
    """With any one victim kept but the last, the preemptor would not fit: each was worth it."""
    asked = 0
    for seed in range(13_000, 13_250):
        one = {**case(seed), "mode": "nominate"}
        if "fairSharing" in one["config"] or any(item["kind"] == "Topology" for item in one["objects"]):
            continue
        for key, found in replay(one).get("workloads", {}).items():
            targets = (found.get("nomination") or {}).get("targets") or []
            if len(targets) < 2:
                continue
            for spared in targets[:-1]:
                gone = {target["workload"] for target in targets if target is not spared}
                names = {item.partition("/")[2] for item in gone}
                left = [item for item in one["objects"] if item["metadata"]["name"] not in names]
                held = [item for item in one["admitted"] if item["workload"] not in names]
                again = replay({**one, "objects": left, "admitted": held})["workloads"][key]
                asked += 1
                assert again["nomination"]["mode"] != "Fit" or again["nomination"]["borrowingLevel"], (seed, key)
    assert asked >= 5


def tree(chance):
    """A tree of four queues by chance, on two levels of cohorts."""
    root, low = QuotaNode("root", quota(chance, False), 1.0), QuotaNode("low", quota(chance, True), 1.0)
    queues = [QuotaNode(f"q{number}", quota(chance, True), 1.0) for number in range(4)]
    low.parent, root.cohorts = root, [low]
    for number, queue in enumerate(queues):
        queue.parent = low if number % 2 else root
        queue.parent.queues.append(queue)
    root.count()
    root.measure(root)
    return root, low, queues


def quota(chance, limits):
    """Quota by chance, with limits where there is somebody to borrow from."""
    nominal = chance.randint(0, 9)
    borrowing = chance.choice([None, 0, 2, 5]) if limits else None
    lending = chance.choice([None, 0, nominal // 2]) if limits else None
    return {KEY: Quota(nominal, borrowing, lending)}


def test_usage_that_is_removed_leaves_no_trace():
    """Usage that was added is gone when it is removed, in whatever order, all the way up the tree."""
    for seed in range(300):
        chance = random.Random(seed)
        root, low, queues = tree(chance)
        added = [(chance.choice(queues), chance.randint(0, 6)) for _ in range(8)]
        for node, amount in added:
            node.add({KEY: amount})
        for node, amount in sorted(added, key=lambda _: chance.random()):
            node.remove({KEY: amount})
        assert all(queue.usage.get(KEY, 0) == 0 for queue in (root, low, *queues)), seed


def test_what_is_available_can_be_used_and_no_more():
    """A queue can use what is available to it, then nothing is left; and it is never more than it could ever have."""
    for seed in range(300):
        root, _, queues = tree(random.Random(seed))
        for node in queues:
            available = node.available(KEY)
            assert available <= max(0, node.potential(KEY))
            node.add({KEY: available})
            assert node.available(KEY) == 0
            assert root.left(KEY) >= 0


def test_shares_are_told_without_a_change():
    """The shares with more or less usage are those that are there once it was added or removed."""
    borrowing = 0
    for seed in range(300):
        chance = random.Random(seed)
        _, low, queues = tree(chance)
        for node in queues:
            node.add({KEY: chance.randint(0, 9)})
        node = chance.choice(queues)
        path, usage = [node, *node.path()], {KEY: chance.randint(0, node.usage[KEY])}
        less = [share_without(node, usage, item) for item in path]
        node.remove(usage)
        assert less == [share(item) for item in path], seed
        more = list(shares_with(node, usage))
        node.add(usage)
        assert more == [share(item) for item in path], seed
        for queue in (low, *queues):
            assert queue.borrows_any({KEY}) == queue.borrows(KEY), seed
            borrowing += share(queue).borrowing
    assert borrowing >= 50


def test_resources_are_alike_while_one_is_a_multiple_of_the_other():
    """What everybody has and uses thrice as much of is alike, until somebody uses the one and not the other."""
    other = ("flavor", "memory")
    low = QuotaNode("low", {KEY: Quota(4, 2), other: Quota(12, 6)}, 1.0)
    root = QuotaNode("root", {}, 1.0)
    low.parent, root.queues = root, [low]
    root.count()
    root.measure(root)
    low.add({KEY: 2, other: 6})
    alike = Alike({}, fair=False)
    assert alike.sort(root, KEY, 1) == alike.sort(root, other, 3) != alike.sort(root, other, 2)
    assert alike.first(root, {KEY: 1, other: 3}, frozenset()) == {KEY: 1}
    assert alike.first(root, {KEY: 1, other: 3}, frozenset({other})) == {KEY: 1, other: 3}
    alike.add(root, {KEY: 1, other: 3})
    assert alike.sort(root, KEY, 1) == alike.sort(root, other, 3)
    low.add({KEY: 1})
    alike.add(root, {KEY: 1})
    assert alike.sort(root, KEY, 1) != alike.sort(root, other, 3)


@pytest.mark.parametrize(
    ("left", "right", "total", "rest"),
    [
        (UNLIMITED, 5, UNLIMITED, UNLIMITED),
        (5, UNLIMITED, UNLIMITED, LOWEST),
        (UNLIMITED, UNLIMITED, UNLIMITED, 0),
        (UNLIMITED - 1, 5, UNLIMITED, UNLIMITED - 6),
        (LOWEST, 5, LOWEST + 5, LOWEST),
        (3, 5, 8, -2),
    ],
)
def test_unlimited_stays_unlimited(left, right, total, rest):
    """Sums and differences stay within 64 bits, and what is unlimited stays so."""
    assert plus(left, right) == total
    assert minus(left, right) == rest


def test_a_queue_admits_as_many_as_fit():
    """However many they are, though it admits one a cycle."""
    api = "kueue.x-k8s.io/v1beta2"
    flavors = [{"name": "all", "resources": [{"name": "cpu", "nominalQuota": 1000}]}]
    spec = {"namespaceSelector": {}, "resourceGroups": [{"coveredResources": ["cpu"], "flavors": flavors}]}
    pods = {"containers": [{"name": "all", "image": "all", "resources": {"requests": {"cpu": 1}}}]}
    sets = [{"name": "main", "count": 1, "template": {"spec": pods}}]
    objects = [
        {"apiVersion": api, "kind": "ResourceFlavor", "metadata": {"name": "all"}},
        {"apiVersion": api, "kind": "ClusterQueue", "metadata": {"name": "queue"}, "spec": spec},
        {"apiVersion": api, "kind": "LocalQueue", "metadata": {"name": "queue"}, "spec": {"clusterQueue": "queue"}},
    ]
    objects += [
        {
            "apiVersion": api,
            "kind": "Workload",
            "metadata": {"name": f"w{number}"},
            "spec": {"queueName": "queue", "podSets": sets},
        }
        for number in range(300)
    ]
    answer = replay({"objects": objects})
    assert {workload["outcome"] for workload in answer["workloads"].values()} == {"admitted"}
    assert not answer.get("unsettled")
