"""What runs on a person's device: the standard library is all it needs, and permanent answers are kept in one private file."""
