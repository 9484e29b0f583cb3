"""Answering: price, charge, count in the database, add exact noise outside, keep the answer, hand it out.

`charging` holds the order on which safety rests; the ledger is charged before anything is read.

"""
