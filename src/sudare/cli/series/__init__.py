"""Commands for tables that are published again and again.

- `planning`: what a plan of a series means. `running`: one tick. `watching`: tick after tick, and the end of a window.
"""
