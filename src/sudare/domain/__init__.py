"""What tables are about: attributes, their product, and counts of people in its cells.

- `attributes`: `Category`, `Bins`, `Mesh`, and plain `Positions`. `domain`: their product, up to 2**62 cells.
- `table`: `CountTable`, stored for the cells that are not empty.
- `layout`: in which order a tree descends into the axes.
- `mesh`: JIS X 0410 codes, grid cells and points, by exact whole numbers.
"""

from sudare.domain.attributes import Attribute, Bins, Category, Mesh, Positions
from sudare.domain.domain import Domain
from sudare.domain.layout import Layout, morton_layout, raster_layout
from sudare.domain.mesh import MESH_LEVELS, MeshLevel, mesh_cells, mesh_cells_of_points, mesh_codes, mesh_level
from sudare.domain.table import CountTable

__all__ = [
    "MESH_LEVELS",
    "Attribute",
    "Bins",
    "Category",
    "CountTable",
    "Domain",
    "Layout",
    "Mesh",
    "MeshLevel",
    "Positions",
    "mesh_cells",
    "mesh_cells_of_points",
    "mesh_codes",
    "mesh_level",
    "morton_layout",
    "raster_layout",
]
