"""Elastic sensitivity as its paper defines it (Johnson, Near and Song): `queries`, from the SQL to a number.

Private queries of `sudare.sql` use the same rules (`sudare.sql.relations.elastic`) on the relations of their own planner.
"""
