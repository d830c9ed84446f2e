"""Specs that commands write: what has to be known before a file is made, and the text that follows from the answers."""
