"""Files of spreadsheets and maps that sudare does not read, and how to make one of them that it does.

Only ways are named that need nothing from the network: what the program that made the file can do itself, or ``ogr2ogr``, which
every GDAL brings. DuckDB's extensions for these files are loaded from the network, and are switched off.
"""

from __future__ import annotations

from pathlib import Path

from sudare.bilingual import Words

__all__ = ["how_to_read"]

SPREADSHEET = Words(
    "'{file}' is a spreadsheet, which is not read as it is. Save the sheet as CSV: in Excel, File > Save As > \"CSV UTF-8 (Comma "
    'delimited)"; in LibreOffice, File > Save As > "Text CSV". The first row must hold the names of the columns. Then write '
    "'{stem}.csv' in place of '{file}'.",
    "「{file}」は表計算ソフトのファイルで、そのままでは読めません。シートを CSV で保存してください（Excel: 「名前を付けて保存」→"
    "「CSV UTF-8（コンマ区切り）」、LibreOffice: 「名前を付けて保存」→「テキスト CSV」）。1行目は列名にします。"
    "その後、「{file}」の代わりに「{stem}.csv」と書いてください。",
)
MAP = Words(
    "'{file}' is a map file, which is not read as it is. Export it as CSV: in QGIS, Export > Save Features As > CSV; or run\n\n"
    "ogr2ogr -f CSV {stem}.csv {file} -t_srs EPSG:4326 -lco GEOMETRY=AS_XY\n\n"
    "Then write '{stem}.csv' in place of '{file}'. Points are in the columns X (longitude) and Y (latitude): where the plan has "
    'a mesh, write "Y,X" as its column.',
    "「{file}」は地図データのファイルで、そのままでは読めません。CSV に書き出してください（QGIS: "
    "「エクスポート」→「新規ファイルに地物を保存」→ CSV）。または次を実行します:\n\n"
    "ogr2ogr -f CSV {stem}.csv {file} -t_srs EPSG:4326 -lco GEOMETRY=AS_XY\n\n"
    "その後、「{file}」の代わりに「{stem}.csv」と書いてください。地点は X（経度）と Y（緯度）の列になります。"
    '計画にメッシュがあれば、その列に "Y,X" と書きます。',
)
SPREADSHEETS = (".xlsx", ".xls", ".xlsm", ".xlsb", ".ods", ".numbers")
MAPS = (".shp", ".shx", ".dbf", ".gpkg", ".geojson", ".kml", ".kmz", ".gml", ".fgb", ".tab", ".mif")


def how_to_read(file: str | Path) -> Words | None:
    """What to do with a file of another program; None for every other file.

    Example:
        >>> how_to_read("people.gpkg").english[:29]
        "'people.gpkg' is a map file, "
        >>> how_to_read("people.csv") is None
        True
    """
    path = Path(file)
    suffix = path.suffix.lower()
    kind = SPREADSHEET if suffix in SPREADSHEETS else MAP if suffix in MAPS else None
    return None if kind is None else kind.format(file=path.name, stem=path.stem)
