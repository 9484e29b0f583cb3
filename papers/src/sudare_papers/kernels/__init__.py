"""Compiled programs of the papers, to be timed: arrays in, arrays out. `sudare.kernels.compiling` compiles them."""
