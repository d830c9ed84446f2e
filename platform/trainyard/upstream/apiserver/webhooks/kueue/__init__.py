"""What Kueue's webhooks refuse, of its own kinds and of the jobs it queues; read from and verified against v0.19.2.

Job rules hold for integrations that the manager's configuration enables; all are taken to be on, since the
configuration is not among the manifests. Gates are at their defaults of 0.19.
"""
