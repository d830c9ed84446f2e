"""One cycle of the scheduler: the heads of all queues, what each would get, and who gets it."""
