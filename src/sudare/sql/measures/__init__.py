"""What is measured of a query, with which sensitivity and with which noise: the plan.

A new aggregate is written here. Everything is decided from metadata and budget, before anything is read.

"""
