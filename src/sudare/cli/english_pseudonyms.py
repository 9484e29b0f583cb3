"""What the commands about pseudonyms and people's rights say in English."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["HELP", "SPOKEN"]

HELP: Mapping[str, str] = {
    "panel.people": "Protect records",
    "any.key": "The secret key file. Or set SUDARE_KEY.",
    "any.register": "The register of the key. By default KEY.register beside the key.",
    "any.mapping": "The mapping of random pseudonyms, where the method table is used.",
    "any.recipient": "Who gets the pseudonyms. Two recipients cannot compare theirs.",
    "any.kind": "The kind of identifier, such as patient: what stood behind --id COLUMN=KIND, or the column's name.",
    "any.epoch": "The epoch of the key. By default the latest.",
    "any.encoding": "The encoding of text files, such as utf-8 or cp932; auto tells it from each file.",
    "any.person": "The person's identifier as it stands in the raw data; - reads it from stdin, out of the shell's history.",
    "any.files": "Files or folders. Left out: all files that were made with the key.",
    "any.column": "The column of identifiers in files that were not made with the key.",
    "pseudonymize.help": "Replace identifiers by pseudonyms that nobody can link without the key.\n\n"
    "Pseudonymized data is still personal data: what else stands in a row may tell whose it is.",
    "pseudonymize.examples": "sudare pseudonymize new-key keys/study.key\n"
    "sudare pseudonymize run visits.csv --id patient --key keys/study.key --recipient university --out out/visits.csv",
    "pseudonymize.new-key.help": "Make a secret key from the operating system's randomness, and its register.\n\n"
    "Only you can read them. An existing key is never overwritten.",
    "pseudonymize.new-key.examples": "sudare pseudonymize new-key keys/study.key",
    "pseudonymize.new-key.key": "Where the key shall be: in a folder that is not given away.",
    "pseudonymize.new-mapping.help": "Make an empty mapping, for pseudonyms by the method table.",
    "pseudonymize.new-mapping.examples": "sudare pseudonymize new-mapping tables/names.db --key keys/study.key",
    "pseudonymize.new-mapping.mapping": "Where the mapping shall be, in another folder than the key.",
    "pseudonymize.run.help": "Replace the identifiers in some columns of a file, and write a new file.\n\n"
    "The same person has the same pseudonym in every file for one recipient. Who opted out is left out.",
    "pseudonymize.run.examples": "sudare pseudonymize run a.csv --id person --recipient lab --out out/a.csv\n"
    "sudare pseudonymize run visits.parquet --id patient --id doctor=staff --key keys/study.key --recipient insurer "
    "--form digits --out out/visits.parquet",
    "pseudonymize.run.source": "A CSV or Parquet file of people.",
    "pseudonymize.run.columns": "A column of identifiers, and their kind if it is not the column's name. Several may be named.",
    "pseudonymize.run.out": "The new file, .csv or .parquet, in a folder without the key and the mapping.",
    "pseudonymize.run.method": "keyed (a keyed hash; the default) or table (random, kept in a mapping).",
    "pseudonymize.run.hash_name": "blake2b (the default) or hmac-sha256.",
    "pseudonymize.run.form": "hex (the default, 32 characters), base32 or digits.",
    "pseudonymize.run.length": "Characters of a pseudonym. By default enough for --people, and the same as in earlier files "
    "for the recipient.",
    "pseudonymize.run.people": "How many people there may be, 10^10 if left out. The chance that any two share a pseudonym is "
    "below 1 in 10^9. With --per each is taken to have up to 10,000 values: state more people where there may be more.",
    "pseudonymize.run.several": "Give each person so many pseudonyms; each row takes one at random.",
    "pseudonymize.run.per": "Give a person another pseudonym for each value of this column, such as a visit.",
    "pseudonymize.run.normalize": "Change identifiers before: nfkc, strip, upper, no-leading-zeros. By default nothing.",
    "pseudonymize.run.missing": "What to do with missing identifiers: refuse the file, or keep them missing.",
    "pseudonymize.export.help": "Write a mapping as identifiers and pseudonyms, readable by you only.",
    "pseudonymize.export.examples": "sudare pseudonymize export n.db --recipient lab --kind person --out n.csv\n"
    "sudare pseudonymize export tables/names.db --key keys/study.key --recipient university "
    "--kind patient --out names.csv",
    "pseudonymize.export.mapping": "The mapping.",
    "pseudonymize.export.out": "The table, .csv or .parquet.",
    "pseudonymize.export.several": "The pseudonyms were made with --several or --per.",
    "pseudonymize.import.help": "Take a table that was exported into a mapping; all or nothing.",
    "pseudonymize.import.examples": "sudare pseudonymize import n.db n.csv --recipient lab --kind person\n"
    "sudare pseudonymize import tables/names.db names.csv --key keys/study.key "
    "--recipient university --kind patient",
    "pseudonymize.import.mapping": "The mapping.",
    "pseudonymize.import.source": "The table, with the columns identifier and pseudonym.",
    "pseudonymize.import.several": "The pseudonyms were made with --several or --per; the table has a column index.",
    "pseudonymize.rotate.help": "Begin a new epoch: from now on everybody has new pseudonyms.\n\n"
    "Those of older epochs can still be computed until their secret is destroyed.",
    "pseudonymize.rotate.examples": "sudare pseudonymize rotate keys/study.key",
    "pseudonymize.rotate.key": "The secret key file; it is written anew.",
    "pseudonymize.destroy.help": "Destroy the secret of an older epoch: nobody can compute its pseudonyms again.\n\n"
    "Backups of the key are not reached; destroy them too.",
    "pseudonymize.destroy.examples": "sudare pseudonymize destroy keys/study.key --epoch 1",
    "pseudonymize.destroy.key": "The secret key file; it is written anew.",
    "pseudonymize.destroy.epoch": "Which epoch; not the latest.",
    "pseudonymize.destroy.mapping": "A mapping whose pseudonyms of that epoch are deleted too.",
    "pseudonymize.gone.help": "Declare that a file which was made with the key is gone for good.\n\n"
    "Nobody is looked for in it any more: without this, deleting somebody from all files never ends. The log keeps that it "
    "was declared.",
    "pseudonymize.gone.examples": "sudare pseudonymize gone out/visits.csv --key keys/study.key",
    "pseudonymize.gone.file": "Where the file was written; it must not be there any more.",
    "pseudonymize.relink.help": "Write old pseudonyms beside those of the latest epoch, for whoever holds the key.",
    "pseudonymize.relink.examples": "sudare pseudonymize relink --recipient x --kind id --file a.csv --out b.csv\n"
    "sudare pseudonymize relink --key keys/study.key --recipient university --kind patient "
    "--from 1 --file visits.csv --out relink.csv",
    "pseudonymize.relink.old": "The epoch of the old pseudonyms. By default the one before the latest.",
    "pseudonymize.relink.source": "A file of raw identifiers; not needed with a mapping.",
    "pseudonymize.relink.column": "Its column of identifiers. By default the one named like the kind.",
    "pseudonymize.relink.out": "The table of old and new pseudonyms, .csv or .parquet.",
    "person.help": "One person's rights: find, correct, delete or opt out, in all files and in all to come.\n\n"
    "The register keeps keyed hashes only, never who asked. Asking twice changes nothing.",
    "person.examples": "sudare person find 1234 --key keys/study.key --kind patient\n"
    "sudare person opt-out - --key keys/study.key --kind patient",
    "person.find.help": "Find one person's rows.",
    "person.find.examples": "sudare person find 1234 --key keys/study.key --kind patient --out rows.jsonl\n"
    "sudare person find 1234 raw/ --id patient --key keys/study.key --kind patient",
    "person.find.out": "Write the rows here, one JSON object a line, readable by you only.",
    "person.correct.help": "Correct fields of one person's rows, in files there are and in files to come.\n\n"
    "Files to come are corrected where they hold the wrong value again.",
    "person.correct.examples": "sudare person correct 1234 --set city=Osaka --kind patient\n"
    "sudare person correct - raw.csv --id patient --set city=Osaka --key keys/study.key --kind patient",
    "person.correct.fields": "A column and its right value. Several may be named.",
    "person.delete.help": "Delete one person's rows, and leave the person out of files to come.",
    "person.delete.examples": "sudare person delete 1234 --key keys/study.key --kind patient --yes\n"
    "sudare person delete 1234 raw.csv --id patient --key keys/study.key --kind patient --yes",
    "person.delete.location": "A ledger in which the person opts out as well, so that its releases leave the person out.",
    "person.delete.dataset": "A data set of that ledger. Several may be named.",
    "person.opt-out.help": "Leave one person out of files and releases, from now on.\n\n"
    "Rows leave the files that were made with the key; raw files change only if they are named.",
    "person.opt-out.examples": "sudare person opt-out - --key keys/study.key --kind patient\n"
    "sudare person opt-out 1234 --key keys/study.key --kind patient --ledger budget.db --dataset census",
    "person.opt-out.only_future": "Leave the files that there are as they are.",
    "person.opt-out.location": "A ledger in which the person opts out as well, so that its releases leave the person out.",
    "person.opt-out.dataset": "A data set of that ledger. Several may be named.",
    "person.opt-in.help": "Take an opt-out or a deletion back, for files to come.",
    "person.opt-in.examples": "sudare person opt-in 1234 --key keys/study.key --kind patient",
    "person.log.help": "Show what was done, when and to which file, and check that nobody changed it.\n\n"
    "Exit code 7 if something was changed.",
    "person.log.examples": "sudare person log --key keys/study.key --verify --files\n"
    "sudare person log --key keys/study.key --person - --kind patient",
    "person.log.person": "Only what was done for this person; - reads the identifier from stdin.",
    "person.log.kind": "The kind of that identifier.",
    "person.log.verify": "Check every seal, and that the register is what the log says.",
    "person.log.files": "Also compare the files that are still there.",
    "person.log.head": "A seal that was noted earlier; it must still be there.",
}

SPOKEN: Mapping[str, str] = {
    "pseudonym.register_exists": "The register {register} exists already; a new key needs a new one. Choose another name.",
    "pseudonym.key_made": "Made the key {file} and its register {register}.",
    "pseudonym.keep_key": "Keep a copy of the key in a safe: without it nobody is found again. Never give it away with "
    "the data.",
    "pseudonym.mapping_made": "Made the mapping {mapping}.",
    "pseudonym.twice": "The column {column} is named twice by --id.",
    "pseudonym.done": "Wrote {out} with pseudonyms for {recipient}. It is still personal data.",
    "pseudonym.new_kind": "The kind '{kind}' is new: nobody is left out by it. People are left out of the kinds {kinds}. If it "
    "is one of these, delete the new file and run again with --id COLUMN=KIND.",
    "pseudonym.links": "{file} links people to pseudonyms. Keep it as secret as the key, and delete it after use.",
    "pseudonym.imported": "Taken into {mapping}.",
    "pseudonym.rotated": "Epoch {epoch} has begun: files from now on have new pseudonyms.",
    "pseudonym.no_old_epoch": "Epoch {epoch} is not an older epoch of this key; the latest is {latest}, and cannot be "
    "destroyed.",
    "pseudonym.ask_destroy": "Destroy epoch {epoch} for ever?",
    "pseudonym.destroyed": "The secret of epoch {epoch} is destroyed. Destroy copies of the key file as well.",
    "pseudonym.ask_gone": "Is {file} gone for good, with all its copies?",
    "pseudonym.gone": "Noted: {file} is gone. If a copy turns up, nobody who asked was taken out of it: delete it.",
    "pseudonym.never_made": "No file was made for {recipient} with {kind} in epoch {epoch}, or it is the latest epoch.",
    "pseudonym.needs_mapping": "These pseudonyms are from a mapping: name it by --mapping.",
    "pseudonym.needs_file": "These pseudonyms are keyed hashes: name a file of raw identifiers by --file, and its column by "
    "--id.",
    "person.ledger_and_dataset": "--ledger and --dataset go together.",
    "person.person_and_kind": "--person and --kind go together.",
    "person.bad_field": "--set takes COLUMN=VALUE.",
    "person.spelling": "The identifier is empty, has blanks around it, or characters that cannot be printed. Write it "
    "exactly as in "
    "the data. Nothing was done.",
    "person.ask_delete": "Delete this person's rows for ever?",
    "person.opted_out": "Noted: left out from now on.",
    "person.opted_in": "Noted: may be in files to come again.",
    "person.deleted": "Deleted, and left out from now on.",
    "person.corrected": "Corrected, also in files to come.",
    "person.known_already": "The register knows of this already.",
    "person.warn_missing": "{file} is not where it was written; what was moved must be named, and what is gone for good "
    "is declared by `sudare pseudonymize gone`.",
    "person.warn_unlinkable": "{file} has pseudonyms of an epoch that was destroyed; nobody can find the person in it.",
    "person.warn_unknown": "{file} was not made with this key and was not looked into; name its column of identifiers by --id.",
    "person.warn_unreadable": "{file} is damaged or cannot be read, and was not looked into. Mend or remove it, and ask again.",
    "person.warn_unwritable": "{file} cannot be written: the person is in it still. Make it writable, and ask again.",
    "person.mapping_kept": "The mapping still holds the person: it was not named, or the person may still be in files that were "
    "made with it. Name it by --mapping, without files, once all its files can be looked into.",
    "person.new_kind": "No file with the kind '{kind}' was made with this key yet. Known kinds: {kinds}.",
    "person.file": "file",
    "person.state": "state",
    "person.rows": "rows",
    "person.state_found": "found",
    "person.state_rewritten": "rewritten",
    "person.state_nothing": "not in it",
    "person.state_missing": "file is gone",
    "person.state_unlinkable": "epoch destroyed",
    "person.state_unknown": "not looked into",
    "person.state_unreadable": "cannot be read",
    "person.state_unwritable": "cannot be written",
    "person.entry": "entry",
    "person.time": "time (UTC)",
    "person.did": "what was done",
    "person.head": "Last seal, to be noted elsewhere: {head}",
    "person.sound": "Nothing was changed.",
}
