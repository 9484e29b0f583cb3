"""RAPPOR: texts as bits of a Bloom filter, randomized twice; memories, decoding and associations."""
