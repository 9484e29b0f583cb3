"""One person, one pseudonym: a later file is made in the way that was settled by the first one, or not at all."""

from __future__ import annotations

from sudare.errors import InputError
from sudare.microdata.pseudonyms.pseudonymizer import Design

__all__ = ["require_agreement"]


def require_agreement(design: Design, known: Design | None, known_way: tuple[str, ...] | None) -> None:
    """Refuse a design that is not what was settled.

    Args:
        design: the design of a new file.
        known: what earlier files for the recipient, the kind and the epoch were made with; None if there are none.
        known_way: how identifiers of the kind are normalised; None if the kind is new.

    Raises:
        InputError: if a person would have other pseudonyms, or another hash in the register, than before.
    """
    if known is not None and known != design:
        names = [name for name, value in vars(known).items() if getattr(design, name) != value]
        raise InputError(
            f"For the recipient {design.recipient!r}, earlier files with {design.kind!r} were made with other settings "
            f"({', '.join(names)}): the same person would have two pseudonyms. Leave these options out to take the earlier "
            f"ones, or name another recipient.",
            f"提供先 {design.recipient!r} の {design.kind!r} は、以前のファイルでは別の設定（{', '.join(names)}）でした。"
            "同じ人の仮名が変わってしまいます。これらの指定を省くと以前の設定が使われます。または別の提供先名にしてください。",
        )
    if known_way is not None and known_way != design.normalize:
        raise InputError(
            f"Identifiers of the kind {design.kind!r} were normalised in another way before "
            f"({', '.join(known_way) or 'none'}): the register would not find the same people. Use the same, "
            f"or name another kind.",
            f"種類 {design.kind!r} の識別子は以前、別の正規化（{', '.join(known_way) or 'なし'}）でした。"
            "登録簿が同じ人を見つけられません。同じ正規化にするか、別の種類名にしてください。",
        )
