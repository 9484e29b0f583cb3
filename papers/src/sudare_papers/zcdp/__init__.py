"""NN-Wavelet under zero-concentrated privacy (Ishioka and Terada): `runs` and `page`."""
