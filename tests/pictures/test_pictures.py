"""Pictures show what Kueue decides: every job on its hosts, and the quota of every queue, before a change and after."""

from __future__ import annotations

import re
import time
from collections import Counter
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from conftest import ROOT
from make import CLUSTER, JOB, fields, write_repository
from trainyard.faces.pictures import decide, look, pictures
from trainyard.faces.pictures.bars import headline as quota_headline
from trainyard.faces.pictures.boxes import height_of, wide
from trainyard.faces.pictures.decided import between, declared
from trainyard.faces.pictures.draw import of_hosts, of_quota
from trainyard.faces.pictures.jobs import headline, summary
from trainyard.faces.pictures.quotas import Branch, Row, Sums, quotas
from trainyard.faces.pictures.scene import Host, Job, Pool, Rack, Scene
from trainyard.faces.pictures.scenes import scene
from trainyard.judge.admission.site import Site
from trainyard.judge.admission.verdicts import verdicts
from trainyard.judge.preflight import check_repository

SVG = "{http://www.w3.org/2000/svg}"
KNOWN = {"svg", "title", "desc", "style", "defs", "pattern", "g", "rect", "path", "line", "text", "tspan"}
PLACED = {"fits", "fits by borrowing", "fits partially", "fits after preempting"}
HOSTILE = '"><script>alert(1)</script><!-- ]]> & \x1b[31m\u202e\x00\ud800 ' + "é" * 200
TWO = {"teams": ["nlp"], "nominalQuota": {"gpu": {"gpus": 16}}, "cohort": "all"}


def checked(folder, jobs, **cluster):
    """A repository with these jobs, and these changes to its cluster."""
    values = {f"nlp/{name}": fields(JOB, job) for name, job in jobs.items()}
    return check_repository(write_repository(folder, jobs=values, clusters={"test": fields(CLUSTER, cluster)}))


def compared(old, new):
    """What is decided on the cluster of two repositories."""
    before = declared(old, "test") if old is not None else None
    return between(before, declared(new, "test"), Site.answered)


def drawn(folder, jobs, before=None, **cluster):
    """The scene of these jobs, after those that were there before."""
    old = checked(folder / "before", before, **cluster) if before is not None else None
    past, now = compared(old, checked(folder / "now", jobs, **cluster))
    return scene("test", past, now, compared=before is not None)


def parsed(svg):
    """The elements of a picture, which has nothing that acts, loads or leads anywhere."""
    tree = ET.fromstring(svg.encode())
    every = list(tree.iter())
    assert {item.tag.removeprefix(SVG) for item in every} <= KNOWN
    assert not [name for item in every for name in item.attrib if "href" in name or name.startswith("on")]
    assert not re.search(r"url\((?!#)|@import|javascript:", svg)
    assert tree.get("role") == "img"
    assert tree.findtext(f"{SVG}title")
    assert tree.findtext(f"{SVG}desc")
    return tree


def said(svg):
    """All words of a picture, each text by itself."""
    return ["".join(item.itertext()) for item in parsed(svg).iter(f"{SVG}text")]


def on_hosts(seen):
    """How many GPUs each job has on the hosts of a scene."""
    hosts = (host for pool in seen.pools for rack in pool.racks for host in rack.hosts)
    return Counter(seen.jobs[one].name for host in hosts for numa in host.numa for one in numa if one is not None)


def test_every_job_is_where_kueue_puts_it(tmp_path):
    """Who is placed and how many GPUs are held agree with the verdicts; who waits is told with its reason."""
    jobs = {"first": {"nodes": 3, "priority": "high"}, "second": {}, "small": {"nodes": 1, "gpusPerNode": 2}}
    there = checked(tmp_path, jobs)
    seen = scene("test", None, decide(there, "test"), compared=False)
    found = {verdict.ask.name: verdict for verdict in verdicts(there)}
    assert {job.name for job in seen.jobs if job.state == "placed"} == {
        name for name, value in found.items() if value.word in PLACED
    }
    assert on_hosts(seen) == {"nlp/first": 24, "nlp/small": 2}
    assert seen.whole_gpus == (0, 26, 32)
    (waits,) = seen.waiting
    assert (waits.name, waits.gpus) == ("nlp/second", 16)
    assert waits.why == found["nlp/second"].detail
    words = said(of_hosts(seen))
    assert "test: 26 of 32 GPUs in use, 6 free, 1 job waits" in words
    assert "nlp/first 24 GPUs on 3 hosts" in " ".join(words)


def test_hosts_are_those_that_kueue_names(tmp_path):
    """With a topology each GPU is drawn on the host of the witness, in its rack."""
    there = checked(tmp_path, {"train": {"topology": {"required": "rack"}}})
    now = decide(there, "test")
    seen = scene("test", None, now, compared=False)
    (answer,) = (workload for workload in now.answer["workloads"].values())
    named = {one["values"][-1] for one in answer["podSets"][0]["topology"]["domains"]}
    racks = {(rack.name, host.name) for rack in seen.pools[0].racks for host in rack.hosts if host.shares}
    assert {host for _, host in racks} == named
    assert len({rack for rack, _ in racks}) == 1


def test_without_a_topology_the_scheduler_chooses_and_the_picture_says_so(tmp_path):
    """Kueue names no hosts: pods are spread as kube-scheduler does, and a note tells that they may be elsewhere."""
    seen = drawn(tmp_path, {"train": {"nodes": 3, "gpusPerNode": 4}, "wide": {"nodes": 2}}, topology=None)
    hosts = [host for rack in seen.pools[0].racks for host in rack.hosts]
    had = [Counter(seen.jobs[one].name for numa in host.numa for one in numa if one is not None) for host in hosts]
    assert had == [{"nlp/train": 4}, {"nlp/train": 4}, {"nlp/train": 4}, {"nlp/wide": 8}]
    assert any(
        "kube-scheduler spreads pods by free CPUs and memory; the real hosts may differ" in item
        for item in said(of_hosts(seen))
    )
    assert seen.homeless == 1


def test_pods_that_find_no_host_are_counted(tmp_path):
    """Quota is there for more pods than nodes have room for, so that the job waits, as its verdict says."""
    queue = {"teams": ["nlp"], "nominalQuota": {"gpu": {"gpus": 64}}}
    seen = drawn(tmp_path, {"train": {"nodes": 6}}, topology=None, queues={"research": queue})
    assert (seen.homeless, seen.whole_gpus, len(seen.waiting)) == (2, (0, 32, 32), 1)
    assert any("2 pods with quota fit on no node" in item for item in said(of_hosts(seen)))


def test_gpus_without_quota_are_not_free(tmp_path):
    """Nodes that no queue has quota of are told apart, in the title and on the map."""
    pools = {**CLUSTER["pools"], "spare": {"shape": "dgx-h100", "nodes": 2}}
    seen = drawn(tmp_path, {"train": {}}, pools=pools)
    assert headline(seen) == "test: 16 of 48 GPUs in use, 16 free, 16 without quota"
    words = said(of_hosts(seen))
    assert any("16 GPUs, of which no queue has quota" in word for word in words)
    assert "no quota" in words


def test_jobs_that_volcano_starts_are_placed_as_long_as_there_is_room(tmp_path):
    """Which comes first is Volcano's choice: a note says so, and its pool has quota like others."""
    operators = {**CLUSTER["operators"], "volcano": {"version": "1.15.1"}}
    queues = {"research": {"teams": ["nlp"], "scheduler": "volcano", "nominalQuota": {"gpu": {"gpus": 32}}}}
    jobs = {name: {"kind": "VolcanoJob", "nodes": nodes} for name, nodes in (("a", 3), ("b", 2), ("c", 1))}
    seen = drawn(tmp_path, jobs, operators=operators, queues=queues)
    assert {job.name: (job.state, job.hosts, job.gpus) for job in seen.jobs} == {
        "nlp/a": ("placed", 3, 24),
        "nlp/b": ("waits", 0, 16),
        "nlp/c": ("placed", 1, 8),
    }
    assert headline(seen).startswith("test: 32 of 32 GPUs in use, 0 free")
    words = said(of_hosts(seen))
    assert any("waits for room in queue research if Volcano starts other jobs first" in word for word in words)
    assert any("Volcano jobs are placed in the order of their names" in word for word in words)


def test_a_job_without_nodes_for_all_its_pods_is_told_and_marked(tmp_path):
    """It has quota and hosts for some pods, and waits: its letters stand on them and beside the reason."""
    queue = {"teams": ["nlp"], "nominalQuota": {"gpu": {"gpus": 64}}}
    jobs = {"train": {"nodes": 3, "priority": "high"}, "late": {"nodes": 3}}
    seen = drawn(tmp_path, jobs, topology=None, queues={"research": queue})
    (job,) = seen.waiting
    assert (job.stuck, job.tag, job.hosts, job.begins, job.never) == (True, "B", 1, False, False)
    words = said(of_hosts(seen))
    assert any(word.startswith("has quota, waits for a node") for word in words)
    assert "has quota, waits for nodes" in words


def test_who_never_fits_is_none_of_those_who_wait(tmp_path):
    """By quota or by nodes: they have a heading of their own, and their reasons keep their numbers."""
    queue = {"teams": ["nlp"], "nominalQuota": {"gpu": {"gpus": 48}}}
    jobs = {"train": {"nodes": 3, "priority": "high"}, "late": {"nodes": 2}, "six": {"nodes": 6}, "seven": {"nodes": 7}}
    seen = drawn(tmp_path, jobs, topology=None, queues={"research": queue})
    assert {item.name: item.never for item in seen.waiting} == {"nlp/late": False, "nlp/six": True, "nlp/seven": True}
    assert headline(seen).endswith("1 job waits, 2 jobs never fit")
    words = said(of_hosts(seen))
    assert "never fits: 2 jobs, 104 GPUs" in words
    assert "pod set worker needs 56 nvidia.com/gpu of flavor gpu, but its queue can get at most 48" in " ".join(words)
    change = drawn(tmp_path / "change", jobs, {}, topology=None, queues={"research": queue})
    assert summary(change) == ["4 jobs start (144 GPUs, 1 of them waits, 2 of them never fit)"]
    assert "nlp/seven + starts: 56 GPUs, never fits" in " ".join(said(of_hosts(change)))
    spoken = parsed(of_hosts(seen)).findtext(f"{SVG}desc")
    assert "nlp/seven never fits: pod set worker needs" in spoken


def test_who_may_fit_is_on_hosts_and_marked(tmp_path):
    """It is placed as is most likely, dotted, and told with what it waits for where nodes are taken otherwise."""
    job = {"launcher": "tensorflow", "nodes": 3, "roles": {"ps": {"nodes": 2, "cpusPerNode": 16}}}
    seen = drawn(tmp_path, {"train": job}, {}, topology=None)
    assert headline(seen).endswith("1 job may fit")
    (train,) = seen.doubtful
    assert (train.state, train.begins, train.hosts > 0) == ("placed", True, True)
    svg = of_hosts(seen)
    assert svg.count('class="d"') > 1
    words = said(svg)
    assert "may fit: 1 job, 24 GPUs" in words
    assert "may fit" in words
    assert any(word.startswith("if the scheduler picks other nodes, it waits for a node for 1 pod") for word in words)
    assert "nlp/train may fit: if the scheduler" in parsed(svg).findtext(f"{SVG}desc")
    certain = drawn(tmp_path / "certain", {"small": {"nodes": 1}}, {}, topology=None)
    assert 'class="d"' not in of_hosts(certain)


def test_hosts_are_drawn_smaller_the_more_there_are(tmp_path):
    """Up to 64 have names and letters, more are a cell each below their rack's letters; each size shows who begins."""
    job = Job("nlp/a", "starts", "placed", 8, hosts=1, tag="QQ")
    sizes = {}
    for count in (20, 64, 400, 2000):
        hosts = tuple(Host(f"gpu-{number:03}", ((0,) * 8 if number == 7 else (None,) * 8,)) for number in range(count))
        pool = Pool("gpu", count * 8, False, 0, 8, True, True, (Rack("", "rack-0", hosts),))
        svg = of_hosts(Scene("test", True, (pool,), (job,)))
        words = said(svg)
        assert ("gpu-007" in words) == (count <= 64)
        assert "<title>gpu-007: nlp/a has 8</title>" in svg
        assert words.count("QQ") == (9 if count <= 64 else 2)
        assert svg.count('class="o"') >= 2
        sizes[count] = len(svg)
    assert sizes[2000] < 300_000


def test_pods_have_the_numa_nodes_that_kubelets_give_them(tmp_path):
    """Two pods of three GPUs have a NUMA node each, of four GPUs, where the kubelet aligns them."""
    kubelet = {"topologyManagerPolicy": "restricted", "topologyManagerScope": "pod", "cpuManagerPolicy": "static"}
    pools = {"gpu": {**CLUSTER["pools"]["gpu"], "kubelet": kubelet}, "cpu": CLUSTER["pools"]["cpu"]}
    jobs = {"train": {"nodes": 2, "gpusPerNode": 3, "topology": {"required": "hostname"}}}
    seen = drawn(tmp_path, jobs, pools=pools)
    (host,) = (host for rack in seen.pools[0].racks for host in rack.hosts if host.shares)
    assert [Counter(numa) for numa in host.numa] == [Counter({0: 3, None: 1})] * 2


def test_what_a_change_does_with_each_job(tmp_path):
    """Jobs that start, are replaced, end, get a place and lose theirs are told apart from those that stay."""
    small = {"nodes": 1, "gpusPerNode": 8}
    before = {"edited": small, "gone": {**small, "priority": "high"}, "same": {**small, "priority": "high"}}
    before |= {"loses": {"nodes": 1, "priority": "low"}, "waits": {"nodes": 2, "priority": "low"}}
    now = {name: job for name, job in before.items() if name != "gone"}
    now |= {"edited": {**small, "args": ["--lr", "1"]}, "begins": {"nodes": 2, "priority": "high"}}
    queue = {**CLUSTER["queues"]["research"], "preemption": {"withinClusterQueue": "LowerPriority"}}
    seen = drawn(tmp_path, now, before, queues={"research": queue})
    changes = {job.name.removeprefix("nlp/"): job for job in seen.jobs}
    assert {name: change.change for name, change in changes.items()} == {
        "begins": "starts",
        "edited": "replaces",
        "gone": "ends",
        "loses": "stays",
        "same": "stays",
        "waits": "stays",
    }
    assert [name for name, change in changes.items() if change.displaced] == ["loses"]
    assert {name for name, change in changes.items() if change.begins} == {"begins", "edited"}
    assert summary(seen) == [
        "1 job starts (16 GPUs)",
        "1 job is replaced (8 GPUs)",
        "1 job stops (8 GPUs)",
        "1 job must wait now (8 GPUs)",
    ]
    assert headline(seen) == "test: 32 of 32 GPUs in use, 0 free, 2 jobs wait"


def test_what_ends_leaves_room_that_is_marked_and_may_be_had(tmp_path):
    """GPUs of a job that ends are given back; one that waited for them fits now."""
    before = {"first": {"nodes": 3, "priority": "high"}, "second": {"nodes": 2}}
    freed = drawn(tmp_path / "freed", {}, {"first": {"nodes": 3}})
    assert freed.whole_gpus == (24, 0, 32)
    assert on_hosts(freed) == {"nlp/first": 24}
    assert "freed by this change" in said(of_hosts(freed))
    both = {"first": {}, "more": {}}
    larger = drawn(tmp_path / "larger", {**both, "first": {"nodes": 3, "args": ["--long"]}}, both)
    assert [job.name for job in larger.jobs if job.gone] == ["nlp/first"]
    assert on_hosts(larger) == {"nlp/first": 16, "nlp/more": 16}
    assert "freed by this change" in said(of_hosts(larger))
    seen = drawn(tmp_path, {"second": {"nodes": 2}}, before)
    (second,) = (job for job in seen.jobs if job.name == "nlp/second")
    assert second.begins
    assert "1 job fits now (16 GPUs)" in summary(seen)


def test_quota_says_who_borrows_of_whom(tmp_path):
    """A queue uses more than its own; the one queue that has some to spare lends it, the cohort has the sum."""
    queues = {"research": TWO, "other": TWO}
    there = decide(checked(tmp_path, {"train": {"nodes": 3}, "more": {"nodes": 3}}, queues=queues), "test")
    (cohort,) = quotas(None, there, compared=False)
    assert (cohort.name, cohort.cohort, [item.name for item in cohort.below]) == ("all", True, ["other", "research"])
    other, research = (next(row for row in item.rows if row.resource == "nvidia.com/gpu") for item in cohort.below)
    assert (research.now, research.now.borrowed, research.now.waits) == (Sums(16, 24, 48), 8, 24)
    assert (other.now, other.least_lent, other.most_lent) == (Sums(16, 0, 0), 8, 8)
    assert cohort.rows[0].now == Sums(32, 24, 48)
    words = said(of_quota("test", (cohort,)))
    assert {"24 of 16 · borrows 8 · 24 wait", "0 of 16 · lends 8"} <= set(words)
    assert quota_headline("test", (cohort,)) == "test: 24 of 32 GPUs of quota in use, 8 borrowed, 24 wait"


def test_quota_counts_apart_what_never_fits(tmp_path):
    """What waits gets quota when others end; what asks for more than there is never does, in queue and cohort alike."""
    jobs = {"first": {"nodes": 4, "priority": "high"}, "late": {}, "never": {"nodes": 5}}
    there = decide(checked(tmp_path, jobs, queues={"research": {**TWO, "nominalQuota": {"gpu": {"gpus": 32}}}}), "test")
    (cohort,) = quotas(None, there, compared=False)
    rows = [next(row for row in item.rows if row.resource == "nvidia.com/gpu") for item in (cohort, *cohort.below)]
    assert [(row.now, row.now.waits) for row in rows] == [(Sums(32, 32, 88, 40), 16)] * 2
    words = said(of_quota("test", (cohort,)))
    assert {"32 of 32 · 16 wait · 40 never fit", "requested, never fits"} <= set(words)
    assert quota_headline("test", (cohort,)) == "test: 32 of 32 GPUs of quota in use, 16 wait, 40 never fit"


def test_of_several_lenders_the_least_and_the_most_are_told(tmp_path):
    """Nobody says whose quota is borrowed: each of two lends between nothing and all of it."""
    queues = dict.fromkeys(("research", "one", "two"), TWO)
    there = decide(checked(tmp_path, {"train": {"nodes": 3}}, queues=queues), "test")
    (cohort,) = quotas(None, there, compared=False)
    lent = {item.name: (item.rows[0].least_lent, item.rows[0].most_lent) for item in cohort.below}
    assert lent == {"one": (0, 8), "two": (0, 8), "research": (0, 0)}


def test_quota_before_and_after(tmp_path):
    """A row has what was nominal, used and requested before; a queue that was not there had nothing."""
    old, new = (checked(tmp_path / str(nodes), {"train": {"nodes": nodes}}) for nodes in (1, 2))
    before, now = compared(old, new)
    (queue,) = quotas(before, now, compared=True)
    assert (queue.rows[0].before, queue.rows[0].now) == (Sums(32, 8, 8), Sums(32, 16, 16))
    (alone,) = quotas(None, now, compared=True)
    assert alone.rows[0].before == Sums(0, 0, 0)
    assert "8 → 16 of 32" in said(of_quota("test", (queue,)))


def test_nothing_in_names_acts(tmp_path):
    """Names of jobs, hosts, pools, racks, queues and clusters are words, whatever is in them, and always the same."""
    jobs = tuple(
        Job(f"{number}{HOSTILE}", change, "placed", 1, tag="A", why=HOSTILE)
        for number, change in enumerate(("starts", "replaces", "stays", "ends"))
    )
    waits = Job(HOSTILE, "starts", "waits", 8, why=HOSTILE)
    host = Host(HOSTILE, ((0, 1, 2, 3),), ((0, 0.5),))
    for count in (1, 100, 500):
        pools = (Pool(HOSTILE, 4, False, 1, 3, True, True, (Rack(HOSTILE, HOSTILE, (host,) * count),)),)
        seen = Scene(HOSTILE, True, pools, (*jobs, waits))
        assert of_hosts(seen) == of_hosts(replace(seen))
        words = said(of_hosts(seen))
        assert any("<script>" in word for word in words)
        assert not any(char in word for word in words for char in "\x1b\u202e\x00")
    row = Row(HOSTILE, HOSTILE, Sums(4, 8, 9), Sums(4, 4, 4))
    said(of_quota(HOSTILE, (Branch(HOSTILE, True, (row,), (Branch(HOSTILE, False, (row,), held=True),)),)))


def letters(svg):
    """Where the words of a picture are: left, top, right and bottom of each line, with what it says."""
    for item in parsed(svg).iter(f"{SVG}text"):
        class_, words = item.get("class", ""), "".join(item.itertext())
        x, y, width, height = float(item.get("x")), float(item.get("y")), wide(words, class_), height_of(class_)
        left = x - width / 2 if "n" in class_.split() else x - width if "ra" in class_.split() else x
        yield left, y - height, left + width, y, words


def crowded(count, name):
    """The picture of many jobs with long names on so many hosts, some of which wait for long reasons."""
    jobs = [Job(f"nlp/{name}-{number}", "starts", "placed", 8, 3, 2, tag=f"A{number}") for number in range(9)]
    why = "54 nvidia.com/gpu of flavor reserved-h100 in queue research, used by " + ", ".join(
        item.name for item in jobs
    )
    jobs += [Job(f"nlp/{name}-waits-{number}", "stays", "waits", 16, why=why) for number in range(3)]
    jobs += [Job(f"nlp/{name}-there-{number}", "stays", "placed", 8, hosts=1, tag=f"B{number}") for number in range(9)]
    hosts = tuple(Host(f"reserved-h100-{at:04}", ((at % 9,) * 4, (None,) * 4)) for at in range(count))
    bare = tuple(Host(f"reserved-cpu-{at:04}", (), ((at % 9, 0.4),)) for at in range(4))
    gpu = Pool("reserved-h100", count * 8, False, 0, 8, True, True, (Rack("", "rack-0", hosts),))
    cpu = Pool("reserved-cpu", 0, False, 0, 0, True, True, (Rack("", "rack-0", bare),))
    return of_hosts(Scene("test", True, (gpu, cpu), tuple(jobs)))


@pytest.mark.parametrize("count", [8, 60, 300, 500])
@pytest.mark.parametrize("name", ["run", "adapter-sweep-" * 3 + "learning-rate-1e-4", "x" * 63])
def test_all_words_are_there_and_beside_each_other(count, name):
    """However long names and reasons are, nothing is cut, stands on other words, or is outside of the picture."""
    svg = crowded(count, name)
    found = list(letters(svg))
    width, height = (float(parsed(svg).get(side)) for side in ("width", "height"))
    assert all(left >= 0 and top >= 0 and right <= width and below <= height for left, top, right, below, _ in found)
    for at, one in enumerate(found):
        for other in found[at + 1 :]:
            beside = one[2] <= other[0] + 0.2 or other[2] <= one[0] + 0.2
            assert beside or one[3] <= other[1] + 0.2 or other[3] <= one[1] + 0.2, (one, other)
    words = "".join(item for *_, item in found).replace(" ", "")
    assert "…" not in words
    assert all(f"nlp/{name}-{which}" in words for which in (*range(9), "waits-0", "there-8"))
    assert words.count(f"usedbynlp/{name}-0,") == 3
    assert "reserved-h100-0000" in words


def test_long_resources_of_a_queue_are_told_apart():
    """A queue's bars have the whole names of flavor and resource beside them."""
    flavor = "a100-parts-of-the-second-hall"
    resources = [f"nvidia.com/mig-{size}" for size in ("1g.10gb", "1g.10gb.me", "3g.40gb")]
    rows = tuple(Row(flavor, resource, Sums(8, 4, 9), Sums(8, 2, 2)) for resource in resources)
    svg = of_quota("test", (Branch("all", True, rows, (Branch("research-of-the-second-hall", False, rows),)),))
    words = "".join(item for *_, item in letters(svg)).replace(" ", "")
    assert all(words.count(f"{flavor}{item.partition('/')[2]}2→4of8") == 2 for item in resources[1:])


def luminance(colour):
    """The relative luminance of a colour (Web Content Accessibility Guidelines 2.2)."""
    parts = (byte / 255 for byte in bytes.fromhex(colour[1:]))
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize(("mode", "share"), [(look.LIGHT, 0.42), (look.DARK, 0.38)], ids=["light", "dark"])
def test_words_are_read_on_every_colour(mode, share):
    """Words and what is behind them have a contrast of at least 4.5, in light and in dark."""
    pale = [look.mixed(hue, mode["paper"], share) for hue in look.HUES]
    pairs = [(mode[ink], mode[behind]) for ink in ("ink", "faint", "alarm") for behind in ("paper", "box")]
    pairs += [*((mode["ink"], behind) for behind in pale), *(("#111111", hue) for hue in look.HUES)]
    for pair in pairs:
        dark, light = sorted(map(luminance, pair))
        assert (light + 0.05) / (dark + 0.05) >= 4.5, pair


def test_a_small_cluster(tmp_path, golden):
    """Both pictures of a small change, byte for byte."""
    queues = {"research": TWO, "other": {**TWO, "nominalQuota": {"gpu": {"gpus": 16}, "cpu": {"nodes": 4}}}}
    before = {"train": {}, "old": {"nodes": 1, "gpusPerNode": 4}}
    now = {"train": {}, "new": {"nodes": 1, "queue": "other"}, "late": {"nodes": 3, "priority": "low"}}
    now |= {"cores": {"pool": "cpu", "gpusPerNode": 0, "cpusPerNode": 4, "memoryPerNode": "8Gi", "queue": "other"}}
    old, new = (checked(tmp_path / str(at), jobs, queues=queues) for at, jobs in enumerate((before, now)))
    for picture in pictures("test", *compared(old, new), compared=True):
        parsed(picture.svg)
        golden(f"golden/pictures/{picture.file}", picture.svg)


@pytest.mark.slow
def test_own_clusters():
    """Every cluster of the repository is drawn: whoever has quota holds as many GPUs on hosts as Kueue counts."""
    there = check_repository(ROOT)
    words = {verdict.ask.name: verdict.word for verdict in verdicts(there)}
    for name in there.specs.clusters:
        now = decide(there, name)
        seen = scene(name, None, now, compared=False)
        placed = {job.name: job.gpus + job.parts for job in seen.jobs if job.state == "placed"}
        assert {job.name for job in seen.jobs if job.state == "placed"} == {
            item.name for item in now.asks if words[item.name] in {*PLACED, "fits alone"}
        }
        assert {item.name for item in seen.waiting} == {
            item.name for item in now.asks if words[item.name] not in {*PLACED, "fits alone", "not judged"}
        }
        assert seen.homeless == 0 or not now.cluster.topology, name
        assert on_hosts(seen) == {job: count for job, count in placed.items() if count}
        drawn = list(pictures(name, None, now, compared=False))
        assert drawn == list(pictures(name, None, now, compared=False))
        for item in drawn:
            parsed(item.svg)


@pytest.mark.slow
def test_two_thousand_nodes(tmp_path):
    """A cluster of 2,000 nodes is decided and drawn in 3 s of CPU time, in less than 1 MB."""
    pools = {"gpu": {"shape": "dgx-h100", "nodes": 2000, "racks": 100}, "cpu": CLUSTER["pools"]["cpu"]}
    quota = {"research": {"teams": ["nlp"], "nominalQuota": {"gpu": {"gpus": 16000}, "cpu": {"nodes": 4}}}}
    sizes = (64, 32, 16, 128, 8, 4, 1, 48, 2)
    jobs = {f"job-{number}": {"nodes": sizes[number % len(sizes)]} for number in range(60)}
    there = checked(tmp_path, jobs, pools=pools, queues=quota)
    begun = time.process_time()
    now = decide(there, "test")
    hosts, quota = pictures("test", None, now, compared=False)
    assert time.process_time() - begun < 3
    assert len(hosts.svg) + len(quota.svg) < 1_000_000
    seen = scene("test", None, now, compared=False)
    assert sum(on_hosts(seen).values()) == seen.whole_gpus[1] == 8 * sum(job.hosts for job in seen.jobs)
    words = said(hosts.svg)
    assert all(job.tag in words for job in seen.jobs if job.hosts >= 4)
