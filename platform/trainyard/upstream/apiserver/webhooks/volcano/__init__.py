"""What Volcano's webhooks refuse; read from and verified against v1.14.1.

Its PodGroup, Queue, HyperNode, Job and CronJob webhooks are those that its installation registers; those for JobFlows
and Pods are not.
"""
