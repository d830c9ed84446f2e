"""Health scripts for Argo CD, in Lua, from what they differ in: how a kind says that it waits, ends or fails."""

from __future__ import annotations

CONDITIONS = """\
for _, condition in ipairs(status.conditions or {{}}) do
  if condition.status == "True" then
    if condition.type == "Failed" then
      return {{status = "Degraded", message = condition.message or condition.reason or "Failed"}}
    elseif condition.type == "{done}" then
      return {{status = "Healthy", message = condition.message or "{done}"}}
    elseif condition.type == "Suspended" then
      hs.status = "Suspended"
      hs.message = condition.message or "Queued or stopped"
    end
  end
end
return hs
"""


def by_conditions(counts: str, shown: str, *, done: str, holder: str = "obj.spec") -> str:
    """Return the script of a workload that tells by conditions of status True that it failed, is done, or waits.

    `counts` are lines that work out how far it is and `shown` those that put it into words; `done` is the condition of
    a good end, `holder` what has the field `suspend`.
    """
    return (
        'local hs = {status = "Progressing", message = "Waiting for the controller"}\n'
        "local status = obj.status or {}\n"
        f"{counts}"
        f"if {holder}.suspend then\n"
        '  hs.status = "Suspended"\n'
        '  hs.message = "Queued or stopped"\n'
        "elseif obj.status ~= nil then\n"
        f"{shown}"
        "end\n" + CONDITIONS.format(done=done)
    )
