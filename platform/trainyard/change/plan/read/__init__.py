"""Both sides of a change: trees, specs, and what a synth and the checks find."""
