"""Which attacks apply to a folder of results, and what they find."""
