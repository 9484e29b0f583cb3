"""What plans say of data and cells, for every kind that counts people.

- `sources`: where data is. `domains`: the cells of a table. `mesh_lists`: cells from a list of meshes.
- `public_files`: files that a plan declares to be public, never those of the protected data.
"""
