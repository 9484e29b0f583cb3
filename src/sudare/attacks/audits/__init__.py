"""Audits of mechanisms and programs: a lower bound of epsilon from outputs, and what averaging tells."""
