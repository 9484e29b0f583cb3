"""The report of a window: what all its ticks show together, made from what they published when the window is closed.

`areas` (whose curves are shown), `document` (``release.json``), `charts`, `page` and `page_words` (``release.html``), `report`
(how it is made), `revision` (all tables estimated once more), `verification` (how a whole day is checked).
"""
