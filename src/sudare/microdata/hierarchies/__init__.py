"""Value hierarchies: how the values of a column become coarser, by rule or from a file."""
