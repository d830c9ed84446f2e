"""What stands around the hosts: what the change does, what waits and for what, and whose letters are whose."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainyard.pictures.boxes import Box, flow, stacked
from trainyard.pictures.hosts import WIDTH, marked, scale_of
from trainyard.pictures.scene import Job, Scene
from trainyard.pictures.svg import fitting, rect, said_in_one, text, wide
from trainyard.pictures.words import amount, many, step

MOST = 12
"""Jobs of the change that are named."""

OTHERS = 36
"""Jobs that were there already and are named."""

DOES = {"starts": "+ starts", "replaces": "↻ is replaced", "ends": "✕ ends"}

WORDS = {
    "+": ("starts", "start"),
    "↻": ("is replaced", "are replaced"),
    "✕": ("ends", "end"),
    "▲": ("fits now", "fit now"),
    "▼": ("has to wait now", "have to wait now"),
}


def does(job: Job) -> str:
    """Return what the change does to a job, with a sign; nothing where it does nothing."""
    if job.change == "stays":
        return "▲ fits now" if job.begins else "▼ waits now" if job.displaced else ""
    return DOES[job.change]


def headline(scene: Scene) -> str:
    """Return what matters in one line: GPUs in use before and after, those that are free, and who waits."""
    before, after, total = scene.whole
    if not total:
        said = [many(sum(each.hosts for each in scene.pools), "host") + " without whole GPUs"]
    else:
        change = step(before if scene.compared else None, after)
        said = [f"{change} of {amount(total)} GPUs in use", f"{amount(total - after - scene.outside)} free"]
        said += [f"{amount(scene.outside)} without quota"] if scene.outside else []
    never = sum(each.never for each in scene.waiting)
    if waits := len(scene.waiting) - never:
        said.append(f"{many(waits, 'job')} wait{'s' if waits == 1 else ''}")
    if never:
        said.append(f"{many(never, 'job')} never fit{'s' if never == 1 else ''}")
    if scene.doubtful:
        said.append(f"{many(len(scene.doubtful), 'job')} may fit")
    return f"{scene.cluster}: {', '.join(said)}"


def summary(scene: Scene) -> list[str]:
    """Return what the change does, in numbers: a part for each sort of thing."""
    if not scene.compared:
        return [many(len(scene.jobs), "declared job")]
    said = []
    for sign, (one, several) in WORDS.items():
        if jobs := [each for each in scene.touched if does(each)[:1] == sign]:
            stopped = [each for each in jobs if each.state == "waits" and each.change in {"starts", "replaces"}]
            never = sum(each.never for each in stopped)
            held = ""
            for count, what in ((len(stopped) - never, "wait"), (never, "never fit")):
                held += f", {count} of them {what}{'s' if count == 1 else ''}" if count else ""
            gpus = many(sum(each.gpus for each in jobs), "GPU")
            said.append(f"{many(len(jobs), 'job')} {one if len(jobs) == 1 else several} ({gpus}{held})")
    return said or ["no job starts or ends, and none gets or loses its place"]


def assumed(scene: Scene) -> Iterator[str]:
    """Yield what has to be known to read the picture."""
    if not scene.decided:
        yield "Kueue admits no jobs of this cluster, so nobody is placed"
        return
    yield "Kueue's decision on all declared jobs at once, on the nodes as declared, all of them ready"
    if scene.gangs > 1:
        yield "jobs that Volcano starts are placed by name, as long as there is room; it may start others first"
    if any(not each.chosen for each in scene.pools):
        words = "no topology: Kueue looks at quota alone, and kube-scheduler spreads pods by CPUs and memory"
        yield f"{words}; it may choose other hosts"
    if scene.idle:
        yield f"jobs of {many(scene.idle, 'program')} are left out, which --python runs"
    if scene.homeless:
        finds = "finds no node that takes it" if scene.homeless == 1 else "find no node that takes them"
        yield f"{many(scene.homeless, 'pod')} with quota {finds}"


def changed(scene: Scene) -> Box:
    """Return the jobs of the change, each with its letters."""
    jobs = scene.touched
    if not jobs:
        return Box(0, 0, [])
    return entries(jobs, MOST, 2, more="more of the change")


def waiting(scene: Scene) -> Box:
    """Return the jobs that wait, and for what, those that never fit, and why, and those that may fit."""
    waits, never = ([each for each in scene.waiting if each.never is last] for last in (False, True))
    titles = (("waits", waits), ("never fits", never), ("may fit", scene.doubtful))
    boxes = [listed(title, jobs) for title, jobs in titles if jobs]
    return stacked(boxes, 8)


def listed(title: str, jobs: Sequence[Job]) -> Box:
    """Return jobs that do not run, or perhaps, each with its reason, under a title."""
    gpus = sum(each.gpus for each in jobs)
    words = f"{title}: {many(len(jobs), 'job')}" + (f", {many(gpus, 'GPU')}" if gpus else "")
    head = Box(WIDTH, 16, [text(0, 12, words, "h2")])
    told = [each for each in jobs if reason(each)][:MOST]
    rows = [Box(WIDTH, 17, list(row(each))) for each in told]
    if len(told) < len(jobs):
        rows.append(Box(WIDTH, 16, [text(30, 12, f"and {amount(len(jobs) - len(told))} more", "f")]))
    return stacked([head, *rows], 2)


def size(job: Job) -> str:
    """Return what a job holds or asks for of GPUs."""
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
    """Return what a job waits for, why it never fits, or what it may wait for; nothing where that is not told."""
    if job.perhaps:
        return f"else, as the scheduler chooses nodes, it waits for {job.perhaps}"
    words = job.why if job.never or not job.why else f"waits for {job.why}"
    return f"has quota, {words}" if job.hosts and words else words


def others(scene: Scene) -> Box:
    """Return those that are there already, the largest first, and those about whom nobody is asked."""
    jobs = [each for each in scene.jobs if each.state == "placed" and not each.touched]
    left = [each for each in scene.jobs if each.state == "not judged" and each.change != "ends"]
    boxes = []
    if jobs:
        title = "there already" if scene.compared else "jobs"
        boxes.append(Box(WIDTH, 16, [text(0, 12, title, "h2")]))
        boxes.append(entries(jobs, OTHERS, 3, more="more"))
    if left:
        words = f"{many(len(left), 'job')} not judged: {', '.join(each.name for each in left)}"
        boxes.append(Box(WIDTH, 16, [text(0, 12, fitting(words, WIDTH, 12), "f")]))
    return stacked(boxes, 4)


def entries(jobs: Sequence[Job], most: int, across: int, *, more: str) -> Box:
    """Return jobs in columns, and how many are left out."""
    width = (WIDTH - 12 * (across - 1)) / across
    shown = jobs if len(jobs) <= most else jobs[: most - 1]
    boxes = [Box(width, 17, list(entry(each, width))) for each in shown]
    if len(shown) < len(jobs):
        rest = jobs[len(shown) :]
        words = f"and {len(rest)} {more}, {many(sum(each.gpus for each in rest), 'GPU')}"
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
    yield from (rect(1, 1, 22, 14, each, rx=2) for each in (fill, outline) if each)
    if job.tag:
        letters = "l" if job.change == "ends" else "on m" if job.begins else "m"
        yield text(12, 11.5, job.tag, letters, anchor="middle")


def key(scene: Scene) -> Box:
    """Return what cells mean that have no letters."""
    hosts = [host for pool in scene.pools for rack in pool.racks for host in rack.hosts]
    whole = any(each.numa for each in hosts)
    rows = []
    if any(each.begins for each in scene.jobs):
        rows.append(("n0 o", "begins with the change", 2))
    if scene.compared and any(each.state == "placed" and not each.touched for each in scene.jobs):
        rows.append(("j0", "there already", 2))
    gone = {number for number, each in enumerate(scene.jobs) if each.gone}
    if any(number in gone for host in hosts for numa in host.numa for number in numa):
        rows.append(("g", "given back by the change", 2))
    if scene.doubtful:
        rows.append(("j0 d", "may fit", 2))
    if any(each.stuck for each in scene.jobs):
        rows.append(("j0 w", "has quota, and waits for nodes", 2))
    rows.append(("e", "free GPU" if whole else "free", 2))
    if scale_of(scene).named and any(len(each.numa) > 1 for each in hosts):
        rows.append(("z", "frame: NUMA node", 2))
    if any(not host.numa for host in hosts):
        rows.append(("c", "host without GPUs, filled by CPUs", 5))
    if not all(pool.quota for pool in scene.pools):
        rows.append(("q", "no quota", 2))
    return flow((example(*each) for each in rows), WIDTH, 10)


def example(class_: str, words: str, rx: float) -> Box:
    """Return a cell, and what it means."""
    cell = "".join(rect(1, 1, 13, 13, each, rx=rx) for each in class_.split())
    return Box(wide(words, 11) + 30, 16, [cell, text(20, 11, words, "f")])


def spoken(scene: Scene) -> str:
    """Return the picture in words, for those who do not see it."""
    said = [f"{scene.cluster} has {many(sum(pool.hosts for pool in scene.pools), 'host')}"]
    for each in (pool for pool in scene.pools if pool.gpus):
        what = f"{'parts of ' if each.parts else ''}GPUs"
        said.append(f"pool {each.name}: {amount(each.after)} of {amount(each.gpus)} {what} in use")
    said += [f"{job.name} {does(job)[2:]}, {size(job)}" for job in scene.touched[:MOST]]
    said += [f"{job.name} {'never fits:' if job.never else 'waits for'} {job.why}" for job in scene.waiting if job.why]
    said += [f"{job.name} may fit: {reason(job)}" for job in scene.doubtful[:MOST]]
    return "; ".join([*said, *assumed(scene)])
