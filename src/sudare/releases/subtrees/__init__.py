"""A table that does not fit one machine: counts stay on a Spark cluster, and its executors draw subtree by subtree."""
