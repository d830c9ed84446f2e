"""Will a job be admitted, where, and at whose expense: Kueue's decision about the jobs and clusters of a repository."""

from trainyard.admission.rules import findings
from trainyard.admission.verdicts import Verdict, verdicts

__all__ = ["Verdict", "findings", "verdicts"]
