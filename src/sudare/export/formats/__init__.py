"""The formats that a release is exported to, one object each; `sudare.export.registry` knows them by name.

- `px`, `jsonstat`, `sdmx` (with `sdmx_structure`): tables for statistical offices.
- `excel`: a workbook with a cover sheet; `geopackage` (with `qgis_style`): a map.
- `delta`, `iceberg`: tables in lakehouses.
- `deployments`: a draft for OpenDP's registry of deployments.
"""
