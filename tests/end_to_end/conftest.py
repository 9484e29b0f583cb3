"""Tests of commands judge neither plans nor predictions."""

from tests.quick_plans import quick_plans as quick_plans
