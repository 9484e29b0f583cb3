"""Commands that protect records and tables other than by noisy counts, and show how well.

Here are the plans that anonymize, sample or synthesize records (`microdata`), tools for the holder of such records
(`people_tools`), statistical disclosure control of tables (`protecting`), pseudonyms (`pseudonyms`), one person's rights
(`people_rights`), and all methods on the same axes (`comparing`). Commands about releases, ledgers and plans are in
`sudare.cli.commands`.
"""
