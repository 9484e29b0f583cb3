"""Why the operating system refused something, in both languages: its own words are English."""

from __future__ import annotations

import errno
import os

from sudare.bilingual import Words

__all__ = ["reason_of"]

JAPANESE = {
    errno.ENOENT: "ファイルまたはフォルダがありません",
    errno.EACCES: "アクセス権がありません",
    errno.EPERM: "許可されていない操作です",
    errno.EEXIST: "同じ名前のものが既にあります",
    errno.EISDIR: "フォルダです",
    errno.ENOTDIR: "途中のパスがフォルダではありません",
    errno.ENOTEMPTY: "フォルダが空ではありません",
    errno.ENOSPC: "ディスクの空きがありません",
    errno.EDQUOT: "割り当てられた容量を超えています",
    errno.EFBIG: "ファイルが大きすぎます",
    errno.EROFS: "読み取り専用のディスクです",
    errno.EIO: "入出力エラーです",
    errno.ENAMETOOLONG: "名前が長すぎます",
    errno.ELOOP: "リンクが循環しています",
    errno.EMFILE: "開いているファイルが多すぎます",
    errno.ENFILE: "システム全体で開いているファイルが多すぎます",
    errno.EBUSY: "使用中です",
    errno.ETXTBSY: "実行中のファイルです",
    errno.EXDEV: "別のディスクへは移せません",
    errno.EINVAL: "指定が不正です",
    errno.ENOEXEC: "実行できる形式ではありません",
    errno.ENXIO: "通常のファイルではありません",
    errno.ENOMEM: "メモリが足りません",
    errno.ENOLCK: "ファイルのロックができません",
    errno.ENOTSUP: "このファイルシステムでは使えない操作です",
    errno.ESTALE: "ネットワーク上のファイルが失われています",
}


def reason_of(error: OSError) -> Words:
    """What the system says of a failure, as a phrase without a full stop.

    Example:
        >>> import errno
        >>> print(reason_of(OSError(errno.ENOSPC, "No space left on device")).japanese)
        ディスクの空きがありません
    """
    number = error.errno
    if not number:
        return Words(error.strerror or "it failed", "失敗しました")
    return Words(error.strerror or os.strerror(number), JAPANESE.get(number, f"システムのエラー番号 {number}"))
