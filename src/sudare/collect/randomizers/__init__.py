"""Randomizers of one answer: categories, bits, hashes, numbers, means; and which of them to take.

A new randomizer is one class (`randomizer.Randomizer`: its keys in a questionnaire, how it draws, what a report costs, how
reports are laid out, added up and estimated from, its words) and one line in `registry`; a contract suite runs over all of them.
"""
