"""The edges of the program: disk, Git, processes, cache and package data."""
