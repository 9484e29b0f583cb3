"""Invented data to try things on: nobody in it is real, so it may be shown, shared and compared with what is published.

- `country`: the population of an island country on a grid of 500 m meshes.
- `people`: its inhabitants one by one, for tutorials that begin with microdata.
"""

from sudare.examples.country import invent_country
from sudare.examples.people import invent_people

__all__ = ["invent_country", "invent_people"]
