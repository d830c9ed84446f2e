"""What jobs ask of Kueue: their pod sets, and what each pod counts as."""

from trainyard.upstream.kueue.requests.adjust import adjusted_specs
from trainyard.upstream.kueue.requests.amounts import count_requests, held_by, pod_amounts
from trainyard.upstream.kueue.requests.devices import refusal_of_devices
from trainyard.upstream.kueue.requests.refusals import refusal

__all__ = ["adjusted_specs", "count_requests", "held_by", "pod_amounts", "refusal", "refusal_of_devices"]
