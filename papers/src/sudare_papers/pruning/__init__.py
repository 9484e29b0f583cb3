"""Pruning the inverse transform (Hongo et al.): `orders`, `runs`, `results`, `findings`, `page`; programs are in `kernels`."""
