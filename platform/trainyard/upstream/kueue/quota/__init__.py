"""The tree of queues and cohorts: what each has, what it uses, and what it could borrow."""
