"""What noisy counts tell about themselves: priors, empty surroundings, references, settlements. All of it is post-processing."""
