"""Policies of a repository's own for tests of plans: of one run by itself, and of one run beside another."""

from __future__ import annotations

PIN = "registry.example.com/test/train@sha256:{:064x}"
"""An image by its number."""

FEW = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: own-few
  annotations:
    trainyard.dev/title: Gangs are small
    trainyard.dev/reason: so that they start
    trainyard.dev/fix: ask for fewer nodes
    trainyard.dev/source: ours
spec:
  matchConstraints:
    resourceRules:
      - {{apiGroups: [jobset.x-k8s.io], apiVersions: ["*"], resources: [jobsets], operations: [CREATE, UPDATE]}}
  validations:
    - expression: object.spec.replicatedJobs.all(each, each.template.spec.parallelism < {most})
      message: too many pods
"""
"""How many pods a gang may have at the most."""

DIFFER = '''\
"""No two jobs have the same image.

Why: so that they differ.
Fix: change one.
Source: ours
"""

from trainyard.checks import Problem

NEEDS = {"runs"}


def check(world):
    seen = set()
    for job in world.training_jobs():
        for pods in job.pod_sets():
            for path, container in pods.containers():
                if container["image"] in seen:
                    yield Problem(pods.place("spec"), "the image of another job")
                seen.add(container["image"])
'''
"""Compares runs."""
