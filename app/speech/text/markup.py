"""What stands in a text beside its words: patterns for Markdown, HTML and punctuation.

Every pattern moves forward only (possessive repeats, or bounded ones), so that no text makes one
slower than its length.
"""

import re
from typing import Final

_TAGS: Final = (
    "a|abbr|b|blockquote|body|br|button|center|cite|code|dd|del|details|dfn|div|dl|dt|em|font|"
    "footer|h[1-6]|head|header|hr|html|i|img|input|ins|kbd|label|li|link|main|mark|meta|nav|ol|p|"
    "pre|q|s|samp|script|section|small|span|strike|strong|style|sub|summary|sup|table|tbody|td|"
    "tfoot|th|thead|time|title|tr|tt|u|ul|var|wbr"
)

_BLOCKS: Final = (
    "blockquote body dd details div dl dt footer h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre "
    "section table tr ul"
)
BLOCK_TAGS: Final = frozenset(_BLOCKS.split())
CELL_TAGS: Final = frozenset({"td", "th"})

LONGEST_TAG: Final = 1_000
LONGEST_TARGET: Final = 1_000
LONGEST_FENCE: Final = 200
LONGEST_CLUSTER: Final = 64
LONGEST_COMMENT: Final = 2_000
"""Characters between the ends of each: without a bound, a text that is still being written could
not be understood before it is complete."""

_CONNECTOR: Final = r"['’ʼ＇.·‐‑-]|&(?![A-Za-z]{2,31};)|(?<=[0-9])[,:](?=[0-9])|_{1,9}+"
INLINE: Final = re.compile(
    rf"""
      (?P<run>[^\W_]{{1,128}}+(?:(?:{_CONNECTOR})[^\W_]{{1,64}}+){{0,8}}+)
    | (?P<space>\s++)
    | (?P<entity>&(?:\#[0-9]{{1,7}}|\#[xX][0-9a-fA-F]{{1,6}}|[A-Za-z][A-Za-z0-9]{{1,31}});)
    | (?P<comment><!--[^<]{{0,{LONGEST_COMMENT}}}?-->)
    | (?P<tag></?(?P<name>(?i:{_TAGS}))(?=[^<>]{{0,{LONGEST_TAG}}}>)
        (?:\s++[A-Za-z_:@][\w:.-]*+\s*+=\s*+(?:"[^"<>]*+"|'[^'<>]*+'|[^\s"'<>]++))*+\s*+/?>)
    | (?P<target>\]\((?:[^()\s<>]++|\([^()\s<>]*+\))*+(?:\s++"[^"\n]*+"\s*+)?\))
    | (?P<emoticon>(?<!\S)[:;=]['^-]?[()\[\]|/\\*](?!\S))
    | (?P<arrow>-{{1,2}}>|={{1,2}}>|[→⇒⟶➔➜])
    | (?P<comparison>[<>!=]=++)
    | (?P<image>(?<![^\W_])!(?=\[))
    | (?P<terminal>[.!?…‼⁇⁈⁉。！？｡．؟।]{{1,{LONGEST_CLUSTER}}}+)
    | (?P<clause>[,;:،؛、，；：､]++)
    | (?P<dash>[-‒–—―−‐‑]++)
    | (?P<star>\*++)
    | (?P<opening>[(（])
    | (?P<closing>[)）])
    | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
"""Matches at any place of a text; the group's name says what is there.

A run of letters is cut where a text goes on without end or space.
"""

FENCE: Final = re.compile(
    rf"`{{3,}}+[^\n`]{{0,{LONGEST_FENCE}}}+(?=\n|\Z)|~{{3,}}+[^\n]{{0,{LONGEST_FENCE}}}+(?=\n|\Z)"
)
"""A line that opens or closes a block of code, with its info string."""

RULE: Final = re.compile(
    r"""
    (?: ([-*_])(?:[ \t]*+\1){2,}+          # a thematic break, or the line below a heading
      | ={2,}+
      | \|?[ \t]*+:?-{2,}+:?[ \t]*+(?:\|[ \t]*+:?-*+:?[ \t]*+)*+   # below a table's head
    ) [ \t\r]*+(?=\n|\Z)
    """,
    re.VERBOSE,
)
"""A line of signs alone, which separates."""

MARKER: Final = re.compile(
    r"""
      (?P<quote>>[ \t]*+)
    | (?P<heading>\#{1,6}[ \t]++)
    | (?P<bullet>[-*+•◦▪‣–—][ \t]++)
    | (?P<ordered>\(?(?P<number>[0-9]{1,2})[.)][ \t]++)(?=\S)
    | (?P<row>\|)
    """,
    re.VERBOSE,
)
"""What makes the rest of a line a quote, a heading, a list item or a row of a table."""

FOLLOWING: Final = re.compile(
    r"""["'”’»)\]*_}」』）】`~]{0,9}[^\S\n]{0,9}\n?[^\S\n]{0,9}["'“‘«(\[*_「『（`~]{0,4}(.?)"""
)
"""From a sentence's last mark over closing and opening signs to the first character after."""
