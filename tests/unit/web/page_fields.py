"""The fields of a page, and whether help stands beside each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

__all__ = ["without_help"]

EMPTY = {"input", "meta", "link", "br", "img"}
FIELDS = {"input", "select", "textarea"}


@dataclass(eq=False)
class Element:
    tag: str
    given: dict[str, str]
    above: Element | None
    below: list[Element] = field(default_factory=list)

    def all(self) -> Iterator[Element]:
        yield self
        for one in self.below:
            yield from one.all()

    @property
    def is_help(self) -> bool:
        return self.tag == "details" and self.given.get("class") == "help"

    @property
    def is_field(self) -> bool:
        return self.tag in FIELDS and self.given.get("type") not in ("hidden", "file")

    def has_help(self) -> bool:
        """By a note, in its group, in the head of its table, or beside the title of its section or form."""
        if "aria-describedby" in self.given:
            return True
        place: Element | None = self
        while place is not None:
            if "field" in place.given.get("class", "").split():
                return any(one.is_help for one in place.all())
            if place.tag == "table" and any(one.is_help for one in place.all()):
                return True
            if place.tag in ("section", "form") and any(one.is_help for one in place.below):
                return True
            place = place.above
        return False


class Page(HTMLParser):
    """The elements of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.root = self.here = Element("", {}, None)
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        made = Element(tag, {name: value or "" for name, value in attrs}, self.here)
        self.here.below.append(made)
        if tag not in EMPTY:
            self.here = made

    def handle_endtag(self, tag: str) -> None:
        while self.here.above is not None and self.here.tag != tag:
            self.here = self.here.above
        self.here = self.here.above or self.root


def without_help(text: str) -> list[str]:
    """Fields of a page that nothing explains."""
    fields = [one for one in Page(text).root.all() if one.is_field]
    return [one.given.get("name") or one.given.get("id", one.tag) for one in fields if not one.has_help()]
