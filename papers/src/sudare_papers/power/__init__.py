"""The statistical power that zCDP brings to whoever analyses released tables: future work of the zCDP paper.

- `runs`: what is computed: exact powers in every panel of the paper, and tests on released maps.
- `page`: tables, pictures, and which sentences hold.
"""
