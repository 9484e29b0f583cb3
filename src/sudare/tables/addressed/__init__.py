"""A wide tree whose noise has an address: any part of it is drawn by itself, in any process, and again, and is the same."""
