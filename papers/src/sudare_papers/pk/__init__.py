"""Pk-anonymity by bounded noise (Ikarashi et al.): `runs`, `findings`, `errata` and `page`."""
