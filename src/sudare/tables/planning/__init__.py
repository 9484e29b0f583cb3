"""Plans: from a domain, a budget and a workload to a mechanism with its splits, weights and noise, and its predicted errors.

Planning looks at public facts only, and spends nothing.

"""
