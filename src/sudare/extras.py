"""What not everybody needs: packages that are asked for where they are used, and named in one sentence where they are missing.

| extra | for |
|---|---|
| `accounting` | the numerical composition of many releases |
| `frames` | frames of other packages than pandas, polars, pyarrow and DuckDB |
| `exchange` | Excel workbooks, read and written |
| `geo` | GeoTIFF |
| `lake` | tables of Delta and Iceberg |
| `postgres`, `spark` | data in these databases; ledgers in PostgreSQL |
| `rappor` | decoding RAPPOR's reports |
| `report` | figures by matplotlib, Japanese words in pictures |
| `solver` | hidden and rounded cells, and attacks that reconstruct tables |
| `synth` | another way to fit synthetic records |
| `web` | the page in the browser |

``pip install 'sudare[solver,report]'`` installs some of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from sudare.bilingual import Words
from sudare.errors import MissingPackageError

__all__ = [
    "COMPOSITION",
    "DATABASES",
    "DATA_FRAMES",
    "DECODED_RAPPOR",
    "FIGURES",
    "GEOTIFF",
    "SPARSE_ARRAYS",
    "SPREADSHEETS",
    "TABLE_ATTACKS",
    "TABLE_PROTECTION",
    "THE_PAGE",
    "missing_package",
    "optional_module",
]

MISSING = Words(
    "{what} need the package '{package}': pip install '{named}'.",
    "{what}には {package} が必要です。pip install '{named}' でインストールしてください。",
)
COMPOSITION = Words("Numerical compositions of releases", "公開結果の数値的な合成")
DATA_FRAMES = Words("Data frames of {library}", "{library} のデータフレーム")
DATABASES = Words("Data and ledgers in {database}", "{database} のデータや台帳")
DECODED_RAPPOR = Words("Decoded reports of RAPPOR", "RAPPOR の報告の復号")
FIGURES = Words("Figures", "図の作成")
GEOTIFF = Words("Files in GeoTIFF", "GeoTIFF のファイル")
SPARSE_ARRAYS = Words("Sparse arrays of SciPy", "SciPy の疎行列")
SPREADSHEETS = Words("Excel workbooks", "Excel ブック")
TABLE_ATTACKS = Words("Attacks on tables", "表への攻撃")
TABLE_PROTECTION = Words("Hidden and rounded cells", "セルの秘匿や丸め")
THE_PAGE = Words("Pages in the browser", "ブラウザの画面")


def missing_package(package: str, extra: str | None, what: Words) -> MissingPackageError:
    """What to say where an optional package is not installed.

    Args:
        package: as its makers call it.
        extra: the extra of sudare that has it; None if none has.
        what: needs it, in the plural.
    """
    named = package if extra is None else f"sudare[{extra}]"
    return MissingPackageError(MISSING.format(what=what, package=package, named=named))


def optional_module(name: str, extra: str | None, what: Words) -> Any:
    """A module of an optional package.

    Args:
        name: of the module.
        extra: the extra of sudare that has its package; None if none has.
        what: needs it, in the plural.

    Raises:
        MissingPackageError: if it is not installed.

    Example:
        >>> from sudare.bilingual import Words
        >>> optional_module("json", None, Words("These lines", "この行")).dumps([1])
        '[1]'
    """
    try:
        return import_module(name)
    except ImportError:
        raise missing_package(name.partition(".")[0].replace("_", "-"), extra, what) from None
