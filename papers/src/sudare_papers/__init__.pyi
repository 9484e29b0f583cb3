from sudare_papers.recovery.data import synthetic_city as synthetic_city
from sudare_papers.recovery.page import compare_methods as compare_methods
from sudare_papers.recovery.tables import Comparison as Comparison
from sudare_papers.zcdp.runs import conversion_table as conversion_table

__all__: list[str]
__version__: str
