"""The mechanisms that publish a count table: each takes counts, a budget and a source of bits, and returns a `Published`.

A proof page stands beside each. None of them charges anything.

"""
