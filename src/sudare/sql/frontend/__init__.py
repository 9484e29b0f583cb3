"""From the text of a query to a tree of known clauses and names, or to a refusal that says where and why.

Whatever passes here is bounded in size. No step looks at data, and none decides what anything costs.

"""
