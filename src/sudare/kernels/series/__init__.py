"""Loops over people and nodes of a series."""
