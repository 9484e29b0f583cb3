"""Recovery of sparse tables (Matsumoto et al.): `data`, `methods` and `runs`; `tables`, `pictures`, `findings` and `page`."""
