"""What tables are about: the grid of the regional mesh codes.

- `mesh`: JIS X 0410 codes, grid cells and points, by exact whole numbers.
"""

from sudare.domain.mesh import MESH_LEVELS, MeshLevel, mesh_cells, mesh_cells_of_points, mesh_codes, mesh_level

__all__ = ["MESH_LEVELS", "MeshLevel", "mesh_cells", "mesh_cells_of_points", "mesh_codes", "mesh_level"]
