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

FIELD = """\
local hs = {{status = "Progressing", message = "{waiting}"}}
if obj.status ~= nil and obj.status.{field} ~= nil then
  hs.message = obj.status.{field}
  if obj.status.{field} == "{healthy}" then
    hs.status = "Healthy"
  elseif obj.status.{field} == "{degraded}" then
    hs.status = "Degraded"
{reason}\
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


def by_field(field: str, *, waiting: str, healthy: str, degraded: str, reason: str | None = None) -> str:
    """Return the script of an object that says in one field of its status, by a word, how it is.

    `waiting` is said until the field is there, then its word; every other word than `healthy` and `degraded` is
    progress. `reason` is the field of the status that tells why it is degraded.
    """
    why = f'    hs.message = obj.status.{reason} or "{degraded}"\n' if reason else ""
    return FIELD.format(field=field, waiting=waiting, healthy=healthy, degraded=degraded, reason=why)
