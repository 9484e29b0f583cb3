"""What a comparison looks like: from the results to what people read.

Here are the document and the table of numbers (`document`), the pictures (`picture`, and where their labels go: `labelling`) and
the page (`page`, its template beside it), with the words of all of them in English and Japanese (`words`, `page_words`). Nothing
is measured here: what is shown comes from `sudare.comparison.running`, and `sudare.comparison.writing` puts it into a folder.
"""
