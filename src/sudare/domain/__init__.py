"""What tables are about: attributes, their product, and counts of people in its cells.

- `attributes`: `Category`, `Bins`, `Mesh`, and plain `Positions`. `domain`: their product, up to 2**62 cells.
- `table`: `CountTable`, stored for the cells that are not empty; `SignedTable`, noisy counts of which some are negative.
- `hierarchy`: `Hierarchy`, an attribute whose places form a tree, such as meshes in municipalities in prefectures.
- `layout`: in which order cells stand along the leaves of a tree: Morton, raster, Hilbert, random.
- `mesh`: JIS X 0410 codes, grid cells and points, by exact whole numbers.
"""

from sudare.domain.attributes import Attribute, Bins, Category, Mesh, Positions
from sudare.domain.domain import Domain
from sudare.domain.hierarchy import Hierarchy, Level
from sudare.domain.layout import (
    Layout,
    hilbert_layout,
    layout_named,
    morton_layout,
    random_layout,
    raster_layout,
)
from sudare.domain.mesh import MESH_LEVELS, MeshLevel, mesh_cells, mesh_cells_of_points, mesh_codes, mesh_level
from sudare.domain.mesh_list import MeshList
from sudare.domain.table import CountTable, SignedTable
from sudare.domain.times import Times
from sudare.renamed import old_names

__all__ = [
    "MESH_LEVELS",
    "Attribute",
    "Bins",
    "Category",
    "CountTable",
    "Domain",
    "Hierarchy",
    "Layout",
    "Level",
    "Mesh",
    "MeshLevel",
    "MeshList",
    "Positions",
    "SignedTable",
    "Times",
    "hilbert_layout",
    "layout_named",
    "mesh_cells",
    "mesh_cells_of_points",
    "mesh_codes",
    "mesh_level",
    "morton_layout",
    "random_layout",
    "raster_layout",
]

__getattr__ = old_names(__name__)
