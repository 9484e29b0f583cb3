"""Randomizers of one answer: categories, bits, hashes, numbers, means; and which of them to take.

A new randomizer is a class with a transition; the contract suite runs over all of them.

"""
