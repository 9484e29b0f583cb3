"""Cell suppression: which further cells to hide, exactly or fast, and the certificate that hidden cells stay uncertain."""
