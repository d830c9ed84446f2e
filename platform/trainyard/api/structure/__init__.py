"""The parts that `api.structural` compiles a schema from: how a value is walked, and what is asked of each node."""
