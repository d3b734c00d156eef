"""Each kind of thing that people write, and what is said for it."""

import pytest

from app.speech.engine import Word
from app.speech.text import Sentence, sentences
from app.speech.text.splitting import (
    CUT_PAUSE_SECONDS,
    PARAGRAPH_PAUSE_SECONDS,
    SENTENCE_PAUSE_SECONDS,
)


def say(text: str, *, longest: int = 300, language: str = "en-US") -> list[str]:
    found = sentences(text, longest=longest, language=language)
    return [" ".join(word.spoken for word in sentence.words) for sentence in found]


ABBREVIATIONS = [
    ("Dr. Smith met Mr. Jones.", ["Doctor Smith met Mister Jones."]),
    ("Dr Smith and Ms Lee", ["Doctor Smith and miz Lee."]),
    ("Dr. and Mrs. Jones left.", ["Doctor and missus Jones left."]),
    ("Apples, e.g. red ones, i.e. ripe.", ["Apples, for example red ones, that is ripe."]),
    ("Pears, figs, etc. are good.", ["Pears, figs, et cetera are good."]),
    ("Pears, etc. Figs too.", ["Pears, et cetera.", "Figs too."]),
    ("Cats vs. dogs, cats vs dogs.", ["Cats versus dogs, cats versus dogs."]),
    ("No. 5 is alive. No. Really.", ["number 5 is alive.", "No.", "Really."]),
    ("St. John lives on Main St. today.", ["Saint John lives on Main Street today."]),
    ("He lives on Main St. It is calm.", ["He lives on Main Street.", "It is calm."]),
    ("We stayed on Elm Dr. for long.", ["We stayed on Elm Drive for long."]),
    ("Come at 5 p.m. today.", ["Come at 5 PM today."]),
    ("At 3 p.m. EST. Jones came.", ["At 3 PM EST.", "Jones came."]),
    ("Come at 5 p.m. We wait.", ["Come at 5 PM.", "We wait."]),
    ("The U.S. Army of the U.S. won.", ["The U.S Army of the U.S won."]),
    ("He left the U.S. He is back.", ["He left the U.S.", "He is back."]),
    ("J. R. R. Tolkien and A. Milne.", ["J.R.R Tolkien and Eh Milne."]),
    ("So do I. Then we left.", ["So do I.", "Then we left."]),
    ("See fig. 3, p. 5 and vol. 2.", ["See figure 3, page 5 and volume 2."]),
    ("Smith et al. wrote on Jan. 5.", ["Smith et al wrote on January 5."]),
    ("I met Al. He left.", ["I met Al.", "He left."]),
    ("A Ph.D. at Acme Inc. in London", ["A PhD at Acme Incorporated in London."]),
    ("Tea w/o milk, w/ sugar", ["Tea without milk, with sugar."]),
    ("Henry VIII and Part II, but MIX", ["Henry 8 and Part 2, but MIX."]),
]

NUMBERS = [
    ("3.14 and 1,234,567", ["3.14 and 1234567."]),
    ("1,000.50 is 1234", ["1000.50 is 1234."]),
    ("Version 3.11.2", ["Version 3 point 11 point 2."]),
    ("-5, −5, 2 - 3, 10 * 2, 2*3, 2**8", [("minus 5, minus 5, 2 minus 3, 10 times 2, "
     "2 times 3, 2 to the power of 8.")]),
    (".5 and -.5", ["0.5 and minus 0.5."]),
    ("2 + 2 = 4", ["2 plus 2 equals 4."]),
    ("3*x - 1, plan A - 5 men", ["3 times x minus 1, plan A, 5 men."]),
    ("She is 6'2\" tall.", ["She is 6 foot 2 tall."]),
    ("1e-5", ["1 times 10 to the power of minus 5."]),
    ("3:30 pm, 3:05, 12:00, 9:00am", ["3 30 PM, 3 oh 5, 12 o'clock, 9 AM."]),
    ("10:30:15", ["10 30 15."]),
    ("a ratio of 16:9 or 30:15", ["a ratio of 16 to 9 or 30 to 15."]),
    ("2026-12-01", ["December 1st 20 26."]),
    ("2026-12-01T10:30:00Z", ["December 1st 20 26, 10 30."]),
    ("12/01/2026 or 31/12/1999", ["December 1st 20 26 or December 31st 19 99."]),
    ("2026-13-01", ["2026-13-01."]),
    ("in 1984, since 1905, in 1900, May 5, 2003", [("in 19 84, since 19 oh 5, in 19 hundred, "
     "May 5, 2003.")]),
    ("1984 words", ["1984 words."]),
    ("the 1990s, the ’80s, 90s, the 2000s", [("the 19 nineties, the eighties, 90 seconds, "
     "the two thousands.")]),
    ("$5, $1, $3.50, $0.99, $1.01", [("5 dollars, 1 dollar, 3 dollars and 50 cents, 99 cents, "
     "1 dollar and 1 cent.")]),
    ("€20, £1.2 million, ¥100, $5M", ["20 euros, 1.2 million pounds, 100 yen, 5 million dollars."]),
    ("20 €, US$5, -$5, $1,234.56", [("20 euros, 5 US dollars, minus 5 dollars, "
     "1234 dollars and 56 cents.")]),
    ("$5-10, £1", ["5 to 10 dollars, 1 pound."]),
    ("50%, 3.5 %, 10-20%", ["50 percent, 3.5 percent, 10 to 20 percent."]),
    ("5 km, 1 km, 5km, 20°C, -3 °F, 45°", [("5 kilometers, 1 kilometer, 5 kilometers, "
     "20 degrees Celsius, minus 3 degrees Fahrenheit, 45 degrees.")]),
    ("100 km/h, 6 ft, 5 m², 2 GHz", [("100 kilometers per hour, 6 feet, 5 square meters, "
     "2 gigahertz.")]),
    ("1st, 22nd, 100th, 3,000th", ["1st, 22nd, 1 hundredth, 3 thousandth."]),
    ("pages 10-20, 10–20, 1990-2000", ["pages 10 to 20, 10 to 20, 19 90 to 2000."]),
    ("1/2, 3/4, 1 1/2, ½, 2½, 24/7", [("one half, 3 quarters, 1 and a half, one half, "
     "2 and a half, 24 7.")]),
    ("x², 10³, 10^5", ["x squared, 10 cubed, 10 to the power of 5."]),
    ("Call 555-1234.", ["Call 5 5 5, 1 2 3 4."]),
    ("Call (555) 123-4567.", ["Call 5 5 5, 1 2 3, 4 5 6 7."]),
    ("+1 (555) 123-4567", ["plus 1, 5 5 5, 1 2 3, 4 5 6 7."]),
    ("~5 km, #5", ["about 5 kilometers, number 5."]),
    ("٣٤ and ①", ["34 and 1."]),
]  # fmt: skip

ADDRESSES_AND_SIGNS = [
    ("See https://example.com/a.", ["See example dot com slash a."]),
    ("http://www.x.org/a_b?c=d-e#f!", [("x dot org slash a underscore b question mark c equals "
     "d dash e hash f!")]),
    ("example.com, (www.a.org/), e.g. file.txt", [("example dot com, a dot org, for example "
     "file.txt.")]),
    ("Write to me@example.com.", ["Write to me at example dot com."]),
    ("/usr/bin and ./run", ["slash usr slash bin and dot slash run."]),
    ("and/or TCP/IP", ["and or TCP IP."]),
    ("rock & roll, R&D, AT&T", ["rock and roll, R&D, AT&T."]),
    ("@user #winning C# C++", ["at user hashtag winning C sharp C plus plus."]),
    ("x < 5, a > b, x <= 3, y != z", [("x less than 5, a greater than b, "
     "x less than or equal to 3, y not equal to z.")]),
    ("go -> there → now", ["go to there to now."]),
    ("ALL CAPS, camelCase, snake_case, a_b", ["ALL CAPS, camelCase, snake case, a b."]),
    ("foo[0].bar(x) {y}", ["foo 0 bar x y."]),
    ("at <http://x.org>, 5 <6, a<b", ["at x dot org, 5 less than 6, a less than b."]),
    ("use --flag -x", ["use flag x."]),
    ("Hello :) there", ["Hello there."]),
]  # fmt: skip

PUNCTUATION = [
    ('He said "Stop!" and left. "Go." She went.', ["He said Stop! and left.", "Go.", "She went."]),
    ("“Really?” he asked. ‘Yes.’ It’s don't.", ["Really? he asked.", "Yes.", "It's don't."]),
    ("The cat (a tabby) slept. (It was late.) Yes!", ["The cat, a tabby, slept.", "It was late.",
     "Yes!"]),
    ("the function(s) f(x)", ["the function s f x."]),
    ("Wait… what? Wait... What?", ["Wait, what?", "Wait.", "What?"]),
    ("wait...what", ["wait, what."]),
    ("So—yes – no - maybe -- or well-known", ["So, yes, no, maybe, or well-known."]),
    ("Really?! Yes!! Oh?.. Well", ["Really?", "Yes!", "Oh?", "Well."]),
    ("hello. how are you", ["hello.", "how are you."]),
    ("one , two;three: four", ["one, two; three: four."]),
    ("你好。世界！好吗？很好、谢谢，再见", ["你好.", "世界!", "好吗?", "很好, 谢谢, 再见."]),
    ("「こんにちは。」彼は言った（昨日）。", ["こんにちは.", "彼は言った, 昨日."]),
    ("rock ’n’ roll dogs' bones", ["rock n roll dogs bones."]),
]  # fmt: skip

MARKDOWN = [
    ("Some *very* good **bold** _text_ ***here***", ["Some very good bold text here."]),
    ("`code` and ~~gone~~ __init__", ["code and gone init."]),
    ("un*frigging*believable **b**old", ["unfriggingbelievable bold."]),
    ("2*3 and a*b and 2 * x", ["2 times 3 and a times b and 2 times x."]),
    ("# Title\nText\ngoes on\n## Next ##\nEnd", ["Title.", "Text goes on.", "Next.", "End."]),
    ("Title\n=====\nText\n---\nEnd", ["Title.", "Text.", "End."]),
    ("- one\n- two\n  * three\n• four", ["one.", "two.", "three.", "four."]),
    ("To do:\n1. wash\n2. dry", ["To do:", "1, wash.", "2, dry."]),
    ("He was\n19. Then he left", ["He was 19.", "Then he left."]),
    ("> so he\n> said\n\nyes", ["so he said.", "yes."]),
    ('See [the docs](https://x.org/a_(b) "T") and ![a cat](cat.png).', [("See the docs and "
     "a cat.")]),
    ("f](x) and a[i](j)", ["f x and a i."]),
    ("```python\nx = 1\ny\n```\nDone", ["x equals 1.", "y.", "Done."]),
    ("| A | B |\n|---|:-:|\n| 1 | 2 |\nEnd", ["A, B.", "1, 2.", "End."]),
    ("* * *\nHello\n***\nthere", ["Hello.", "there."]),
]  # fmt: skip

HTML_AND_UNICODE = [
    ("<p>Hello <b>w</b>orld</p><p>a &amp; b<br/>c</p>", ["Hello world.", "a and b, c."]),
    ("caf&eacute;s &lt; 3 &mdash; x&nbsp;y &bogus; R&amp;D &#33;", [("cafés less than 3, x y and "
     "bogus; R and D!")]),
    ("&eacute;cole a==b", ["école a b."]),
    ("a <!-- hidden --> b<td>c</td>", ["a b, c."]),
    ("if a <b and c> d", ["if a b and c d."]),
    ("hel\u200blo wo\u00adrld \u200fab\u2060c", ["hello world abc."]),
    ("cafe\u0301 nai\u0308ve ﬁne Ａｂｃ", ["café naïve fine Abc."]),
    ("a\0b \x07c \ud800d \ufffee", ["a b c d e."]),
    ("one\ttwo\r\nthree\r\n\r\nfour\u2029five", ["one two three.", "four.", "five."]),
    ("No 😀 emoji👍🏽here 1️⃣ 👨‍👩‍👧!", ["No emoji here 1!"]),
    ("नमस्ते", ["नमस्ते."]),
]  # fmt: skip

ALL = [*ABBREVIATIONS, *NUMBERS, *ADDRESSES_AND_SIGNS, *PUNCTUATION, *MARKDOWN, *HTML_AND_UNICODE]


@pytest.mark.parametrize(("text", "spoken"), ALL, ids=[repr(text) for text, _spoken in ALL])
def test_written_forms_are_spoken_as_people_say_them(text: str, spoken: list[str]) -> None:
    assert say(text) == spoken


@pytest.mark.parametrize(
    "text", ["", " \n\t", "***", "!?", "😀👍🏽", "---\n\n---", "``` py\n```", "\0\ud800"]
)
def test_a_text_without_a_speakable_character_has_no_sentence(text: str) -> None:
    assert say(text) == []


@pytest.mark.parametrize("text", ["a", "5", "你", "***a***", "&", "( ½ )", "\n\n\nÉ"])
def test_one_speakable_character_is_enough(text: str) -> None:
    assert len(say(text)) == 1


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Pay $5, *very* soon.", ["Pay", "$5", "very", "soon"]),
        ("https://example.com/a, ok", ["https://example.com/a", "ok"]),
        ("Dr. Smith [here](http://x.org)", ["Dr.", "Smith", "here"]),
        ("5 km by 2026-12-01", ["5 km", "by", "2026-12-01"]),
        ("b**ol**d hel\u200blo", ["b**ol**d", "hel\u200blo"]),
        ("cafe\u0301 caf&eacute;s", ["cafe\u0301", "caf&eacute;s"]),
        ("你好。世界！", ["你好", "世界"]),
        ("a & b", ["a", "&", "b"]),
        ("1. one", ["1", "one"]),
    ],
)
def test_a_word_knows_where_it_was_written(text: str, written: list[str]) -> None:
    words = [word for sentence in sentences(text) for word in sentence.words]
    assert [text[word.start : word.end] for word in words] == written


def test_the_groups_of_a_telephone_number_are_words_that_share_its_span() -> None:
    (sentence,) = sentences("555-1234")
    assert sentence.words == (Word("5 5 5,", 0, 3), Word("1 2 3 4.", 3, 8))


def test_a_pause_is_longer_at_the_end_of_a_paragraph() -> None:
    found = sentences("One. Two.\n\nThree.\n- Four\n# Five\nSix.")
    assert [sentence.pause_seconds for sentence in found] == [
        SENTENCE_PAUSE_SECONDS,
        *[PARAGRAPH_PAUSE_SECONDS] * 4,
        0.0,
    ]
    assert 0 < CUT_PAUSE_SECONDS < SENTENCE_PAUSE_SECONDS < PARAGRAPH_PAUSE_SECONDS


def test_a_single_line_feed_is_a_space() -> None:
    assert say("one\ntwo") == ["one two."]


CUTS = [
    ("aaaa bbbb; cccc dddd, eeee ffff gggg", ["aaaa bbbb;", "cccc dddd, eeee ffff gggg."]),
    ("aaaa bbbb: cccc dddd, eeee ffff gggg", ["aaaa bbbb:", "cccc dddd, eeee ffff gggg."]),
    ("aaaa bbbb cccc, dddd and eeee ffff gggg", ["aaaa bbbb cccc,", "dddd and eeee ffff gggg."]),
    ("aaaa bbbb cccc—dddd and eeee ffff gggg", ["aaaa bbbb cccc,", "dddd and eeee ffff gggg."]),
    ("aaaa bbbb cccc and dddd eeee ffff", ["aaaa bbbb cccc,", "and dddd eeee ffff."]),
    ("aaaa bbbb cccc dddd eeee ffff gggg", ["aaaa bbbb cccc dddd eeee,", "ffff gggg."]),
    ("a, bbbb cccc dddd eeee ffff gggg", ["a, bbbb cccc dddd eeee,", "ffff gggg."]),
    ("x" * 40, ["x" * 26 + ",", "x" * 14 + "."]),
    ("你" * 40, ["你" * 26 + ",", "你" * 14 + "."]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "spoken"), CUTS)
def test_a_sentence_too_long_is_cut_at_the_best_place(text: str, spoken: list[str]) -> None:
    assert say(text, longest=27) == spoken


def test_a_cut_is_followed_by_a_short_pause() -> None:
    found = list(sentences("aaaa bbbb cccc dddd eeee", longest=16))
    assert [sentence.pause_seconds for sentence in found] == [CUT_PAUSE_SECONDS, 0.0]


def test_a_limit_under_sixteen_characters_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="at least 16"):
        sentences("Hello.", longest=15)


OTHER_LANGUAGES = [
    ("de-DE", "Der 5. Mai, z.B. bei https://foo.de/x & Co. Gut.", [("Der 5. Mai, z.B bei foo.de/x "
     "& Co."), "Gut."]),
    ("de", "1.234,56 € sind 50 % um 3:30", ["1.234,56 € sind 50 % um 3:30."]),
    ("fr", "Dr. Martin, 2 * 3 à me@x.fr", ["Dr.", "Martin, 2 × 3 à me@x.fr."]),
    ("zh-CN", "你好。世界", ["你好.", "世界."]),
    ("es", "J. R. Tolkien etc. y **más**", ["J R Tolkien etc y más."]),
]  # fmt: skip


@pytest.mark.parametrize(("language", "text", "spoken"), OTHER_LANGUAGES)
def test_other_languages_are_left_to_the_synthesiser(
    language: str, text: str, spoken: list[str]
) -> None:
    assert say(text, language=language) == spoken


def test_every_english_tag_is_read_as_english() -> None:
    assert say("$5", language="en-GB") == say("$5", language="EN_us") == ["5 dollars."]


def test_a_sentence_is_a_value() -> None:
    assert next(sentences("Hi.")) == Sentence((Word("Hi.", 0, 2),), 0.0)
