"""What is known of a database before anybody asks: tables, columns, bounds, who is protected, and what is promised.

`model` holds the values, `file` and `writing` read and write them, `rules` and `column_rules` check them, `promises` compares
them with a database. Nothing here sees a row but `promises`, and only when the holder asks.

"""
