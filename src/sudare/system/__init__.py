"""What the operating system does to a process, and what a process leaves behind.

- `interrupts`: signals that end a process, and steps that they do not tear apart.
- `locks`: being the only process that does a piece of work. `scratch`: folders that do not outlive their process for long.
- `regular_files`: files that are no pipes and no devices.
- `preparing`: being told that code is compiled, which happens once.
- `closing`: objects that are closed at the end of a ``with`` block.
- `memory`: large arrays, whose memory goes back to the system.
- `clock`: the time now, also where a computer's clock is wrong.
"""
