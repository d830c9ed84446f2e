"""Learning new releases: which there are, what their files say, and what our own clusters make of them."""
