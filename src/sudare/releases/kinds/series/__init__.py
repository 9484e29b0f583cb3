"""Tables published again and again about the same people: one tick after the other, under one promise for a window.

`plan_file` (what a plan says), `clock` (windows and ticks), `reading` (who is where at a tick), `state` (what is remembered, for
the holder alone), `running` (what a tick adds to the order of `sudare.releases.protocol`), `document`, `verification`.
"""
