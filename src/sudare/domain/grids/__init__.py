"""Grids of other countries: cells of equal area, named by the coordinates of their corners."""
