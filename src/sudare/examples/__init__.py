"""Invented data to try things on: nobody in it is real, so it may be shown, shared and compared with what is published.

- `country`: the population of an island country on a grid of 500 m meshes.
- `municipalities`: which meshes belong to which of its municipalities and prefectures, as a public list.
- `people`: its inhabitants one by one, for tutorials that begin with microdata.
- `people_flow`: where they are over a day, tick after tick; `stream_files` writes a file for each tick.
- `companies`: of its economy, for tables of amounts.
"""

from sudare.examples.companies import invent_companies
from sudare.examples.country import invent_country
from sudare.examples.municipalities import invent_municipalities
from sudare.examples.people import invent_people
from sudare.examples.people_flow import PeopleFlow
from sudare.examples.stream_files import write_people_flow

__all__ = [
    "PeopleFlow",
    "invent_companies",
    "invent_country",
    "invent_municipalities",
    "invent_people",
    "write_people_flow",
]
