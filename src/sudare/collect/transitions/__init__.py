"""With which probability a true value becomes which report: the law behind every randomizer.

Epsilon, variances and estimators follow from a transition; nobody types a cost.

"""
