"""What a reader can work out of protected records: attacks on a folder, alone and with what was published before."""
