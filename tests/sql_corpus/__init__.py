"""Queries over a small made-up shop, for the suites of private SQL: what is answered, and what is refused."""
