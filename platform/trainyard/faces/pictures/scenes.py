"""A cluster's scene, made of what Kueue decides before a change and after it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from trainyard.base.labels import HOSTNAME
from trainyard.base.pools import Selector
from trainyard.faces.pictures.decided import Decided
from trainyard.faces.pictures.quotas import amounts, gpu_resources, held_resources
from trainyard.faces.pictures.scene import Change, Host, Job, Pool, Rack, Scene, State
from trainyard.faces.pictures.seats import Room, seat_pods
from trainyard.judge.admission.job_workloads import Bidder
from trainyard.render.sizing.gpus import offers

TOLD = 12
"""Jobs that wait of which it is said what for."""

POD_SET = re.compile(r"couldn't assign flavors to pod set (\S+): ")
"""How Kueue begins to speak of a pod set."""

ORDER: Mapping[Change, int] = {"starts": 0, "replaces": 1, "ends": 2, "stays": 3}

Rooms = Mapping[str, Room]


def scene(name: str, before: Decided | None, now: Decided, *, compared: bool) -> Scene:
    """Return the scene of a cluster; `compared` says that a former state is known, if only an empty one."""
    rooms = seat_pods(now)
    past = seat_pods(before) if before is not None else {}
    homeless = sum(len(fit.missing) for fit in now.fits.values())
    jobs = all_jobs(before, now, rooms, past, compared=compared)
    numbers = {job.name: number for number, job in enumerate(jobs)}
    gone = {job.name for job in jobs if job.gone}
    found = tuple(pools(now, rooms, past, numbers, gone))
    return Scene(name, compared, found, jobs, homeless, now.where is not None, now.idle, len(now.gangs))


def all_jobs(before: Decided | None, now: Decided, rooms: Rooms, past: Rooms, *, compared: bool) -> tuple[Job, ...]:
    """Return all jobs: those of the change first, then the largest; tags and colours go by their first hosts."""
    old = {ask.name: ask for ask in before.asks} if before is not None else {}
    new = {ask.name: ask for ask in now.asks}
    here, there = places(rooms), places(past)
    found = [make_job(now, ask, change(before, now, ask.name) if compared else "stays", here) for ask in now.asks]
    if before is not None:
        found = [replace(item, was=state(before, old[item.name])) if item.name in old else item for item in found]
    ended = [make_job(before, ask, "ends", there) for ask in before.asks if ask.name not in new] if before else []
    found = sorted([*found, *ended], key=rank)
    first = {name: number for number, name in enumerate(dict.fromkeys([*here, *there]))}
    shown = [item.name for item in found if item.state == "placed" or item.hosts]
    seen = sorted(shown, key=lambda name: first.get(name, len(first)))
    marks = {name: number for number, name in enumerate(seen)}
    asks = {ask.name: ask for ask in now.asks}
    waiting = [item.name for item in found if item.state == "waits" and item.change != "ends"]
    told = {name: reason(now, asks[name]) for name in waiting[:TOLD]}
    return tuple(
        replace(
            item,
            tag=tag(marks[item.name]) if item.name in marks else "",
            colour=marks.get(item.name, 0),
            why=told.get(item.name, item.why),
        )
        for item in found
    )


def rank(job: Job) -> tuple[int, bool, int, int, str]:
    """Return by what jobs are told: those of the change first, then the largest."""
    return ORDER[job.change], not job.touched, -job.gpus, -job.parts, job.name


def places(rooms: Rooms) -> dict[str, int]:
    """Return how many hosts each job is on, in the order of the first of them."""
    return Counter(name for room in rooms.values() for name in room.held)


def change(before: Decided | None, now: Decided, name: str) -> Change:
    """Return the effect of a change on a job that exists after it."""
    if before is None or all(ask.name != name for ask in before.asks):
        return "starts"
    old, new = before.runs.get(name), now.runs.get(name)
    return "stays" if old is None or new is None or old == new else "replaces"


def make_job(decided: Decided, ask: Bidder, change: Change, hosts: Mapping[str, int]) -> Job:
    """Return one job as it is decided."""
    mine, (whole, parts) = state(decided, ask), gpus(decided, ask)
    return Job(
        ask.name,
        change,
        mine,
        whole,
        parts,
        hosts.get(ask.name, 0),
        why="" if ask.gang else ask.why,
        never=decided.word(ask) == "never fits",
        perhaps=decided.perhaps(ask),
    )


def state(decided: Decided, ask: Bidder) -> State:
    """Return the state of a job."""
    word = decided.word(ask)
    return "placed" if word.startswith(("fits", "may fit")) else "not judged" if word == "not judged" else "waits"


def gpus(decided: Decided, ask: Bidder) -> tuple[int, int]:
    """Return the whole GPUs, and the parts of some, that a job holds or asks for."""
    parts = {offer.resource for pool in decided.cluster.pools.values() for offer in offers(pool) if not offer.whole}
    every = gpu_resources(decided)
    mine = [(name, count) for answer in decided.of(ask) for _, name, count in held_resources(answer) if name in every]
    cut = round(sum(count for name, count in mine if name in parts))
    return round(sum(count for _, count in mine)) - cut, cut


def reason(now: Decided, ask: Bidder) -> str:
    """Return the reason why a job waits or never fits, as `trainyard admit` prints it, without Kueue's preamble."""
    return re.sub(POD_SET, r"\1: ", now.detail(ask))


def tag(number: int) -> str:
    """Return a short name: A to Z, then AA and so on.

    >>> [tag(number) for number in (0, 25, 26, 702)]
    ['A', 'Z', 'AA', 'AAA']
    """
    text, number = "", number + 1
    while number:
        number, letter = divmod(number - 1, 26)
        text = chr(ord("A") + letter) + text
    return text


def pools(now: Decided, rooms: Rooms, past: Rooms, numbers: Mapping[str, int], gone: set[str]) -> Iterator[Pool]:
    """Yield the pools with their hosts in racks."""
    flavored = list(flavors(now))
    for name, pool in now.cluster.pools.items():
        mine = [room for room in rooms.values() if room.pool == name]
        parts = any(not offer.whole for offer in offers(pool))
        before, after = used_seats(room for room in past.values() if room.pool == name), used_seats(mine)
        racks: dict[tuple[str, str], list[Host]] = {}
        for room in mine:
            racks.setdefault(where(now, room), []).append(host(room, past.get(room.name), numbers, gone))
        yield Pool(
            name,
            sum(len(room.seats) for room in mine),
            parts,
            before,
            after,
            any(selector.items() <= mine[0].labels.items() for selector in flavored),
            bool(now.cluster.levels),
            tuple(Rack(*place, tuple(hosts)) for place, hosts in racks.items()),
        )


def used_seats(rooms: Iterable[Room]) -> int:
    """Return how many GPUs and parts of them jobs have on hosts."""
    return sum(seat.job is not None for room in rooms for seat in room.seats.values())


def flavors(now: Decided) -> Iterator[Selector]:
    """Yield the selectors of flavors that some queue or cohort has quota of, and of Volcano's pools."""
    known = now.where.of("ResourceFlavor") if now.where is not None else {}
    for name in {flavor for rows in amounts(now).values() for (flavor, _), row in rows.items() if row.nominal}:
        if labels := (known.get(name, {}).get("spec") or {}).get("nodeLabels"):
            yield labels
    selectors = now.cluster.selectors
    for queue in now.cluster.queues_of("volcano").values():
        yield from (selectors[pool] for pool in queue.nominal_quota if pool in selectors)


def where(now: Decided, room: Room) -> tuple[str, str]:
    """Return the block and the rack that a host stands in, by the two lowest levels of the topology above hosts."""
    named = [room.labels.get(label, "") for label in now.cluster.levels.values() if label != HOSTNAME]
    return ("/".join(named[:-1]), named[-1]) if named else ("", "")


def host(room: Room, past: Room | None, numbers: Mapping[str, int], gone: set[str]) -> Host:
    """Return a host with those who have its GPUs and CPUs, and those who end and had them."""
    old = {place: seat.job for place, seat in past.seats.items() if seat.job in gone} if past else {}
    by_numa: dict[int, list[int | None]] = {}
    for place, seat in room.seats.items():
        name = seat.job or old.get(place)
        by_numa.setdefault(seat.numa, []).append(numbers[name] if name else None)
    total = room.cpus or 1
    shares = tuple((numbers[name], cpus / total) for name, cpus in room.held.items())
    return Host(room.name, tuple(tuple(by_numa[numa]) for numa in sorted(by_numa)), shares)
