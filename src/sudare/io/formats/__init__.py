"""File formats that need more than DuckDB: Arrow, e-Stat's mesh files, GeoParquet, GeoTIFF, text in any encoding.

Excel workbooks and GeoPackages are read row by row (`row_formats`).
"""
