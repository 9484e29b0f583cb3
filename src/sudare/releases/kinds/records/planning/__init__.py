"""What a plan for records says: columns, hierarchies, models and steps, read without looking at any data."""
