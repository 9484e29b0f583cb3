"""What a reader can work out of a protected table: attacks on a folder, alone and with what was published before."""
