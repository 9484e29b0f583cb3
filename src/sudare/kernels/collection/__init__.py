"""Loops over the reports of many people: randomized answers, Bloom filters, the fields and hashes of Prio3."""
