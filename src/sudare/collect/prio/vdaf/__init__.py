"""Prio3 of the VDAF draft: fields, circuits, proofs and the steps of a report, without network or storage."""
