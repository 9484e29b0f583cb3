"""File formats that need more than DuckDB: Arrow, e-Stat's mesh files, GeoParquet, GeoTIFF, text in any encoding."""
