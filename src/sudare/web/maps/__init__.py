"""Maps of the page: what they show (`layers`), as tiles that a browser paints (`tiles`), described to it (`description`)."""
