"""Tests of releases judge neither plans nor predictions, nor how files are opened."""

from tests.one_engine import one_engine as one_engine
from tests.quick_plans import quick_plans as quick_plans
