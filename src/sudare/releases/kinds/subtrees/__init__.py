"""The kind ``subtrees``: tables of counts that no machine holds, from a plan: Spark counts, and its executors draw.

`plan_file` (what a plan says), `sources` (people in Spark, bounded and counted by cell), `running` (the kind). What is done with
the counts is `sudare.releases.subtrees`.
"""
