"""Days of a series are written in memory."""

from tests.in_memory import tmp_path as tmp_path
from tests.in_memory import tmp_path_factory as tmp_path_factory
