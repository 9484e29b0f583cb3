"""Searching for the best generalization that satisfies the models, in memory or in files that are larger."""
