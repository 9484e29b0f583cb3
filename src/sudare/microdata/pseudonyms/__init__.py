"""Pseudonyms: identifiers replaced by texts that nobody can link without the key, and a person's rights over them.

- `keys`: secret key files, subkeys for every purpose, rotation. `identifiers`: what is the same person.
- `notation`, `hashing`: how pseudonyms are written, how long they must be, keyed hashes of many texts. `mapping`: random tables.
- `pseudonymizer`: `Pseudonymizer`, one call for arrays. `running`: `pseudonymize_file`, one call for files.
- `registers`: who is left out or corrected from now on, what was done, what was settled; `PersonDesk`, for a person's rights.
- `sealing`: what is kept so that only the key opens it.
- `linking`: tables for the holder of the key. `streaming`, `storage`: files.

What it protects and what it does not: ``pseudonyms.md`` beside this file.
"""

from sudare.microdata.pseudonyms.keys import SecretKey, destroy_epoch, new_key, read_key, rotate_key
from sudare.microdata.pseudonyms.linking import export_mapping, import_mapping, relink_file, relink_mapping
from sudare.microdata.pseudonyms.mapping import Mapping, Scope, make_mapping
from sudare.microdata.pseudonyms.notation import TextForm
from sudare.microdata.pseudonyms.pseudonymizer import Design, Pseudonymizer
from sudare.microdata.pseudonyms.registers.register import Register, make_register, register_beside
from sudare.microdata.pseudonyms.registers.rights import FileAnswer, PersonAnswer, PersonDesk
from sudare.microdata.pseudonyms.running import Pseudonymized, pseudonymize_file
from sudare.renamed import old_names

__all__ = [
    "Design",
    "FileAnswer",
    "Mapping",
    "PersonAnswer",
    "PersonDesk",
    "Pseudonymized",
    "Pseudonymizer",
    "Register",
    "Scope",
    "SecretKey",
    "TextForm",
    "destroy_epoch",
    "export_mapping",
    "import_mapping",
    "make_mapping",
    "make_register",
    "new_key",
    "pseudonymize_file",
    "read_key",
    "register_beside",
    "relink_file",
    "relink_mapping",
    "rotate_key",
]


__getattr__ = old_names(__name__)
