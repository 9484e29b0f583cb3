"""Scalar expressions, rebuilt so that they cannot fail, with types and bounds that interval arithmetic proves.

A new function is one rule, in the module of its kind; `rules` finds it. An expression that no rule knows is refused.

"""
