"""Tests of comparisons judge no plan."""

from tests.quick_plans import quick_plans as quick_plans
