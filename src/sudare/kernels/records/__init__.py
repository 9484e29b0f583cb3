"""Loops over records of people: groups, distances, boxes, keyed hashes."""
