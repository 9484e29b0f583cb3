"""What a plan for protected tables says: input, dimensions, rules and methods, read without looking at any data."""
