"""How pictures look: colours that the colour-blind tell apart, on light and on dark, and patterns for the rest."""

from __future__ import annotations

HUES = ("#E69F00", "#56B4E9", "#F0803C", "#A9A4F5", "#2FBF94", "#F0E442", "#DD8FBC")
"""After Okabe and Ito, Color Universal Design (2008), the dark ones made lighter: black letters are read on each.

In this order neighbours differ for those too who see no red or no green."""

LIGHT = {
    "paper": "#ffffff",
    "ink": "#1b1f24",
    "faint": "#59636e",
    "edge": "#afb8c1",
    "box": "#f6f8fa",
    "empty": "#ffffff",
    "alarm": "#b35900",
    "used": "#0072B2",
    "room": "#d8e6f2",
}

DARK = {
    "paper": "#0d1117",
    "ink": "#f0f3f6",
    "faint": "#9ea7b3",
    "edge": "#57606a",
    "box": "#161b22",
    "empty": "#0d1117",
    "alarm": "#ffa657",
    "used": "#56B4E9",
    "room": "#21364a",
}

RULES = """\
text{{font:12px system-ui,'Segoe UI',Helvetica,Arial,sans-serif;fill:{ink}}}
.h1{{font-size:20px;font-weight:600}}.h2{{font-size:14px;font-weight:600}}.big{{font-size:14px}}.s{{font-size:10px}}
.f{{fill:{faint};font-weight:400}}.a{{fill:{alarm};font-weight:600}}.b{{font-weight:600}}
.n{{text-anchor:middle}}.ra{{text-anchor:end}}.m{{font-size:9px;font-weight:600}}.i{{font-size:7px;font-weight:600}}.z{{fill:none;stroke:{edge};stroke-width:.8}}.l{{font-weight:700;paint-order:stroke;stroke:{paper};stroke-width:3px}}
.p{{fill:{paper}}}.x{{fill:{box};stroke:{edge}}}.e{{fill:{empty};stroke:{edge}}}.c{{fill:{empty};stroke:{edge}}}
.q{{fill:url(#none);stroke:{edge}}}.g{{fill:url(#gone);stroke:{ink};stroke-dasharray:2 2}}
.o{{fill:none;stroke:{ink};stroke-width:1.6}}.w{{fill:none;stroke:{alarm};stroke-width:1.4;stroke-dasharray:3 2}}
.d{{fill:none;stroke:{alarm};stroke-width:1.6;stroke-dasharray:1 2}}
.k{{stroke:{ink};stroke-width:2}}.t{{stroke:{faint}}}
.u{{fill:{used}}}.r{{fill:{room};stroke:{used}}}.v{{fill:url(#more);stroke:{alarm}}}.y{{fill:{faint}}}
.ph{{stroke:{edge};stroke-width:1.2}}.pg{{stroke:{ink};stroke-width:.9}}.pm{{stroke:{alarm};stroke-width:3}}
.on{{fill:#111}}"""
"""Classes, by one letter since they stand in every cell.

Words: h1 h2 big s m i by their size, l with a halo, n around their middle, ra to their end; f faint, a alarm, b bold.
Cells: p paper, x rack, z NUMA node, e empty GPU, c empty host, q without quota, g given back, o begun, w waits, d may
fit. Bars: k nominal, t tick, u used, r quota, v borrowed, y before. Patterns: ph, pg and pm.
"""

PATTERNS = """\
<defs>
<pattern id="none" width="5" height="5" patternUnits="userSpaceOnUse"><path class="ph" d="M0 5L5 0"/></pattern>
<pattern id="gone" width="6" height="6" patternUnits="userSpaceOnUse"><path class="pg" d="M0 0L6 6M0 6L6 0"/></pattern>
<pattern id="more" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">\
<path class="pm" d="M0 0V6"/></pattern>
</defs>"""


def style() -> str:
    """Return the style sheet with the patterns that it names."""
    jobs = "".join(f".n{number}{{fill:{hue}}}" for number, hue in enumerate(HUES))
    light = "".join(f".j{number}{{fill:{mixed(hue, '#ffffff', 0.42)}}}" for number, hue in enumerate(HUES))
    dark = "".join(f".j{number}{{fill:{mixed(hue, '#0d1117', 0.38)}}}" for number, hue in enumerate(HUES))
    day, night = RULES.format(**LIGHT) + "\n" + jobs + light, RULES.format(**DARK) + "\n" + dark
    return f"<style>\n{day}\n@media (prefers-color-scheme:dark){{\n{night}\n}}\n</style>\n{PATTERNS}"


def mixed(hue: str, other: str, share: float) -> str:
    """Return a colour with so much of one and the rest of another.

    >>> mixed("#ff0000", "#ffffff", 0.5)
    '#ff8080'
    """
    pairs = zip(*(bytes.fromhex(item[1:]) for item in (hue, other)), strict=True)
    return "#" + "".join(f"{round(one * share + two * (1 - share)):02x}" for one, two in pairs)


def fill_class(colour: int, *, begun: bool) -> str:
    """Return the class of what a job has: strong where it begins with the change, pale where it is there already."""
    return f"{'n' if begun else 'j'}{colour % len(HUES)}"
