"""What a plan can do to records: each method is one step, in a module of its own.

`step` says what a step is, in the order of use; `registry` has all of them. A new step is a class in a module of its own, and one
line in `registry`; `tests/contracts/test_record_steps.py` shows it with a toy, and holds every step to the same.

Steps that cost budget (`sampled_k_anonymity`, `mst`, `aim`) are differential privacy of the table, and stand alone. The others
(`sample`, `swap`, `pram`, `microaggregate`, `noise`, `anonymize`) follow each other in any order that the steps allow.
"""
