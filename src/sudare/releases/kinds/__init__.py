"""The kinds of release, each a folder: `counts` (with a guarantee), `records`, `tables` (statistical disclosure control).

A kind fills in the steps of `sudare.releases.protocol`. Kinds do not know each other, and what they share imports none of them:
`sudare.releases.registry` loads a kind when one of its plans or folders turns up.
"""
