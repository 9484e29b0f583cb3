"""Methods that change or sample records: microaggregation, PRAM, swapping, noise, samples, sampled k-anonymity."""
