"""Code of kernels that is part of the package, so that a machine's first release waits for LLVM alone: see ``prepared.md``."""
