"""The commands of private collection: randomized answers, their plans, and the two aggregators."""
