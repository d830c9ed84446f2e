"""What stands around the hosts: what the change does, what waits and for what, and whose letters are whose."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainyard.faces.pictures.boxes import Box, flow, stacked
from trainyard.faces.pictures.hosts import WIDTH, marked, scale_of
from trainyard.faces.pictures.scene import Job, Scene
from trainyard.faces.pictures.svg import fitting, rect, said_in_one, text, wide
from trainyard.faces.pictures.words import amount, many, step

MOST = 12
"""Jobs of the change that are named."""

OTHERS = 36
"""Jobs that were there already and are named."""

DOES = {"starts": "+ starts", "replaces": "↻ is replaced", "ends": "✕ stops"}

WORDS = {
    "+": ("starts", "start"),
    "↻": ("is replaced", "are replaced"),
    "✕": ("stops", "stop"),
    "▲": ("fits now", "fit now"),
    "▼": ("must wait now", "must wait now"),
}


def does(job: Job) -> str:
    """Return the effect of the change on a job, with a sign; empty where there is none."""
    if job.change == "stays":
        return "▲ fits now" if job.begins else "▼ waits now" if job.displaced else ""
    return DOES[job.change]


def headline(scene: Scene) -> str:
    """Return the headline: GPUs in use before and after, free GPUs, and waiting jobs."""
    before, after, total = scene.whole
    if not total:
        said = [many(sum(pool.hosts for pool in scene.pools), "host") + " without whole GPUs"]
    else:
        change = step(before if scene.compared else None, after)
        said = [f"{change} of {amount(total)} GPUs in use", f"{amount(total - after - scene.outside)} free"]
        said += [f"{amount(scene.outside)} without quota"] if scene.outside else []
    never = sum(job.never for job in scene.waiting)
    if waits := len(scene.waiting) - never:
        said.append(f"{many(waits, 'job')} wait{'s' if waits == 1 else ''}")
    if never:
        said.append(f"{many(never, 'job')} never fit{'s' if never == 1 else ''}")
    if scene.doubtful:
        said.append(f"{many(len(scene.doubtful), 'job')} may fit")
    return f"{scene.cluster}: {', '.join(said)}"


def summary(scene: Scene) -> list[str]:
    """Return the effects of the change in numbers, one text per sort."""
    if not scene.compared:
        return [many(len(scene.jobs), "declared job")]
    said = []
    for sign, (one, several) in WORDS.items():
        if jobs := [job for job in scene.touched if does(job)[:1] == sign]:
            stopped = [job for job in jobs if job.state == "waits" and job.change in {"starts", "replaces"}]
            never = sum(job.never for job in stopped)
            held = ""
            for count, what in ((len(stopped) - never, "wait"), (never, "never fit")):
                held += f", {count} of them {what}{'s' if count == 1 else ''}" if count else ""
            gpus = many(sum(job.gpus for job in jobs), "GPU")
            said.append(f"{many(len(jobs), 'job')} {one if len(jobs) == 1 else several} ({gpus}{held})")
    return said or ["no job starts or stops, and no job gets or loses its place"]


def assumptions(scene: Scene) -> Iterator[str]:
    """Yield the assumptions behind the picture."""
    if not scene.decided:
        yield "Kueue manages no jobs of this cluster, so no job is placed"
        return
    yield "Kueue's decision if all declared jobs are queued at once and all declared nodes are ready"
    if scene.gangs > 1:
        yield "Volcano jobs are placed in the order of their names; Volcano may choose another order"
    if any(not pool.chosen for pool in scene.pools):
        words = "no topology: Kueue checks quota only, and kube-scheduler spreads pods by free CPUs and memory"
        yield f"{words}; the real hosts may differ"
    if scene.idle:
        yield f"the jobs of {many(scene.idle, 'program')} are missing; add them with --python"
    if scene.homeless:
        finds = "fits on no node" if scene.homeless == 1 else "fit on no node"
        yield f"{many(scene.homeless, 'pod')} with quota {finds}"


def changed_jobs(scene: Scene) -> Box:
    """Return the jobs of the change, each with its letters."""
    jobs = scene.touched
    if not jobs:
        return Box(0, 0, [])
    return entries(jobs, MOST, 2, more="more jobs of this change")


def waiting_jobs(scene: Scene) -> Box:
    """Return the jobs that wait, and for what, those that never fit, and why, and those that may fit."""
    waits, never = ([item for item in scene.waiting if item.never is last] for last in (False, True))
    titles = (("waits", waits), ("never fits", never), ("may fit", scene.doubtful))
    boxes = [job_list(title, jobs) for title, jobs in titles if jobs]
    return stacked(boxes, 8)


def job_list(title: str, jobs: Sequence[Job]) -> Box:
    """Return jobs that do not run, or perhaps, each with its reason, under a title."""
    gpus = sum(job.gpus for job in jobs)
    words = f"{title}: {many(len(jobs), 'job')}" + (f", {many(gpus, 'GPU')}" if gpus else "")
    head = Box(WIDTH, 16, [text(0, 12, words, "h2")])
    told = [job for job in jobs if reason(job)][:MOST]
    rows = [Box(WIDTH, 17, list(row(item))) for item in told]
    if len(told) < len(jobs):
        rows.append(Box(WIDTH, 16, [text(30, 12, f"and {amount(len(jobs) - len(told))} more", "f")]))
    return stacked([head, *rows], 2)


def size(job: Job) -> str:
    """Return the GPUs that a job holds or requests."""
    said = [many(job.gpus, "GPU")] if job.gpus else []
    said += [many(job.parts, "part") + " of GPUs"] if job.parts else []
    return " and ".join(said) or "no GPUs"


def row(job: Job) -> Iterator[str]:
    """Yield one job that waits, never fits or may fit."""
    mark = does(job)[:2]
    yield from swatch(job)
    yield text(30, 12, fitting(f"{mark}{job.name}", 210, 12), "b" if mark else "")
    yield text(330, 12, size(job), "", anchor="end")
    yield text(345, 12, fitting(reason(job), WIDTH - 345, 12), "f")


def reason(job: Job) -> str:
    """Return the reason why a job waits, never fits or may wait, empty where there is none."""
    if job.perhaps:
        return f"if the scheduler picks other nodes, it waits for {job.perhaps}"
    words = job.why if job.never or not job.why else f"waits for {job.why}"
    return f"has quota, {words}" if job.hosts and words else words


def others(scene: Scene) -> Box:
    """Return those that are there already, the largest first, and those about whom nobody is asked."""
    jobs = [job for job in scene.jobs if job.state == "placed" and not job.touched]
    left = [job for job in scene.jobs if job.state == "not judged" and job.change != "ends"]
    boxes = []
    if jobs:
        title = "unchanged" if scene.compared else "jobs"
        boxes.append(Box(WIDTH, 16, [text(0, 12, title, "h2")]))
        boxes.append(entries(jobs, OTHERS, 3, more="more"))
    if left:
        words = f"{many(len(left), 'job')} not judged: {', '.join(job.name for job in left)}"
        boxes.append(Box(WIDTH, 16, [text(0, 12, fitting(words, WIDTH, 12), "f")]))
    return stacked(boxes, 4)


def entries(jobs: Sequence[Job], most: int, across: int, *, more: str) -> Box:
    """Return jobs in columns, and how many are left out."""
    width = (WIDTH - 12 * (across - 1)) / across
    shown = jobs if len(jobs) <= most else jobs[: most - 1]
    boxes = [Box(width, 17, list(entry(job, width))) for job in shown]
    if len(shown) < len(jobs):
        rest = jobs[len(shown) :]
        words = f"and {len(rest)} {more}, {many(sum(job.gpus for job in rest), 'GPU')}"
        boxes.append(Box(width, 17, [text(26, 12, words, "f")]))
    return flow(boxes, WIDTH, 12, between=2)


def entry(job: Job, width: float) -> Iterator[str]:
    """Yield one job: its letters on its colour, its name, and how much it has."""
    yield from swatch(job)
    sign = does(job)
    where = f" on {many(job.hosts, 'host')}" if job.hosts else ""
    state = "never fits" if job.never else job.state
    how = f"{size(job)}{where}" if job.state == "placed" or job.displaced else f"{size(job)}, {state}"
    words = f"{sign}: {how}" if sign else how
    name = fitting(job.name, width - 40 - wide(words, 12), 12.5 if sign else 12)
    yield said_in_one(30, 12, (name, "b" if sign else ""), (words, "" if sign else "f"))


def swatch(job: Job) -> Iterator[str]:
    """Yield the letters of a job on its colour, and an empty frame for one that is on no host."""
    fill, outline = marked(job) if job.tag else ("", "w")
    yield from (rect(1, 1, 22, 14, item, rx=2) for item in (fill, outline) if item)
    if job.tag:
        letters = "l" if job.change == "ends" else "on m" if job.begins else "m"
        yield text(12, 11.5, job.tag, letters, anchor="middle")


def key(scene: Scene) -> Box:
    """Return the key of the cells without letters."""
    hosts = [host for pool in scene.pools for rack in pool.racks for host in rack.hosts]
    whole = any(host.numa for host in hosts)
    rows = []
    if any(job.begins for job in scene.jobs):
        rows.append(("n0 o", "starts with this change", 2))
    if scene.compared and any(job.state == "placed" and not job.touched for job in scene.jobs):
        rows.append(("j0", "unchanged", 2))
    gone = {number for number, job in enumerate(scene.jobs) if job.gone}
    if any(number in gone for host in hosts for numa in host.numa for number in numa):
        rows.append(("g", "freed by this change", 2))
    if scene.doubtful:
        rows.append(("j0 d", "may fit", 2))
    if any(job.stuck for job in scene.jobs):
        rows.append(("j0 w", "has quota, waits for nodes", 2))
    rows.append(("e", "free GPU" if whole else "free", 2))
    if scale_of(scene).named and any(len(host.numa) > 1 for host in hosts):
        rows.append(("z", "frame: NUMA node", 2))
    if any(not host.numa for host in hosts):
        rows.append(("c", "host without GPUs: CPUs in use", 5))
    if not all(pool.quota for pool in scene.pools):
        rows.append(("q", "no quota", 2))
    return flow((example(*one_row) for one_row in rows), WIDTH, 10)


def example(class_: str, words: str, rx: float) -> Box:
    """Return a cell, and what it means."""
    cell = "".join(rect(1, 1, 13, 13, part, rx=rx) for part in class_.split())
    return Box(wide(words, 11) + 30, 16, [cell, text(20, 11, words, "f")])


def spoken(scene: Scene) -> str:
    """Return the picture in words, for those who do not see it."""
    said = [f"{scene.cluster} has {many(sum(pool.hosts for pool in scene.pools), 'host')}"]
    for pool in (pool for pool in scene.pools if pool.gpus):
        what = f"{'parts of ' if pool.parts else ''}GPUs"
        said.append(f"pool {pool.name}: {amount(pool.after)} of {amount(pool.gpus)} {what} in use")
    said += [f"{job.name} {does(job)[2:]}, {size(job)}" for job in scene.touched[:MOST]]
    said += [f"{job.name} {'never fits:' if job.never else 'waits for'} {job.why}" for job in scene.waiting if job.why]
    said += [f"{job.name} may fit: {reason(job)}" for job in scene.doubtful[:MOST]]
    return "; ".join([*said, *assumptions(scene)])
