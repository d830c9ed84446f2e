"""Kueue's decision, offline: which Workloads are admitted, with which flavors, where, and at whose expense.

Restated from Kueue v0.19.2, and measured against its own scheduler case by case.
"""
