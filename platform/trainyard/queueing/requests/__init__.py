"""What jobs ask of Kueue: their pod sets, and what each pod counts as."""

from trainyard.queueing.requests.adjust import adjusted
from trainyard.queueing.requests.amounts import counted, held_by, pod_amounts
from trainyard.queueing.requests.devices import refusal_of_devices
from trainyard.queueing.requests.refusals import refusal

__all__ = ["adjusted", "counted", "held_by", "pod_amounts", "refusal", "refusal_of_devices"]
