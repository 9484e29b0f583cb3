"""What the pages show and change, without a page.

Predictions for the slider, cells of tables, choices for records, films of series, what was spent, examples, the guide. A page of
`web.pages` asks for these values, and writes what was chosen through plan files, as the commands do.
"""
