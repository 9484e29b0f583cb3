"""Loops over the cells and trees of count tables."""
