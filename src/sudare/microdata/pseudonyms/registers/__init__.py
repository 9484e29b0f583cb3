"""The register of a key, and the rights of the people whose identifiers it replaces.

Here is who is left out or corrected from now on and which files were made (`register`), the sealed chain of all that was done
(`log`) and whether both say the same (`contents`), how a later file must be made (`agreement`), and what is done at one person's
request in all files (`rights`), with the answers to them (`answers`). Keys, pseudonyms and files are in the room above.
"""
