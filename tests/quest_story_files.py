"""Story files drawn by chance: pieces of Twee and Ink in any order, whole and broken."""

from hypothesis import strategies as st

NAMES = ("Start", "Cave", "The deep hall", "A [b] c", "name|x", "StoryInit", "x->y", "Мост")
TWEE = (
    *("You wait. ", "\n", "\n\n", " ", "''", "//", "[[Cave]]", "[[Go on|Cave]]", "[[Go->Start]]"),
    *("[[Cave<-go]]", "[[Light it->Cave][$lit to true]]", "[[a|b][$hp to 3]]", "[[$x|Cave]]"),
    *("<<if $lit>>", "<<else>>", "<</if>>", "<<elseif not $lit>>", "<<if $hp gt 3>>", "<<endif>>"),
    *(
        "<<set $lit to true>>",
        "<<set $lit to false>>",
        "<<set $hp to 5>>",
        "<<print $lit>>",
        "$lit",
    ),
    *(
        '<<link "Go" "Cave">>',
        "<</link>>",
        '<<goto "Start">>',
        "<<linkappend 'No'>>",
        "<b>",
        "</b>",
    ),
    *(
        "<<link [[a|Cave]]>>",
        "<</linkappend>>",
        "<<",
        ">>",
        "[[",
        "]]",
        "[",
        "]",
        "{",
        "}",
        "(",
        ")",
    ),
    *(
        "(if: $lit)[",
        "(else:)[",
        "(set: $lit to true)",
        '(link-goto: "Go", "Cave")',
        "(link: 'x')[",
    ),
    *(
        "(goto: 'Cave')",
        "(print: $lit)",
        '"',
        "'",
        "\\",
        "/*",
        "*/",
        "<!--",
        "-->",
        "<script>",
        "#",
    ),
    *("</script>", "&amp;", "&#36;", "&", "*", "* [[Cave]]\n", "- ", "|x>[", "{{{", "}}}", '"""'),
    *(
        "`",
        "=",
        "--",
        "@@",
        "!",
        "\r\n",
        "http://x.org",
        "[img[a.png]]",
        "<<script>>",
        "<</script>>",
    ),
    *("(link-reveal: 'No')[", "$", "_x", "~~", "<<unset $lit>>", "<<return>>", "::", "\t"),
)
INK = (
    *(
        "Words.\n",
        "\n",
        "=== cave ===\n",
        "=== hall(x) ===\n",
        "== start\n",
        "= side\n",
        "-> cave\n",
    ),
    *("-> END\n", "-> DONE\n", "+ [Go] -> cave\n", "* Go on\n", "+ {lit} [See]\n    -> start\n"),
    *("+ {not lit} [Feel]\n", "** deeper\n", "- gather\n", "~ lit = true\n", "~ hp = hp + 1\n"),
    *("VAR lit = false\n", "VAR hp = 3\n", "// comment\n", "/* c */\n", "{lit: yes|no}\n", "<>\n"),
    *("# title: X\n", "# keystone\n", "Tail -> cave\n", "->->\n", "<- thread\n", "INCLUDE a.ink\n"),
    *(
        "=== function f(x) ===\n~ return x\n",
        "+ -> END\n",
        "TODO: x\n",
        "\\# plain\n",
        "-> choices\n",
    ),
    *(
        "= choices\n",
        "+ {not (lit)} [See]\n    No.\n    -> cave.choices\n",
        "    -> cave\n",
        "~ x\n",
    ),
    *("+ [a \\[b\\]]\n", "CONST A = 1\n", "    ~ lit = false\n", "=== cave ===\n", "\r\n", "é\n"),
)


@st.composite
def twee_files(draw: st.DrawFn) -> str:
    """Draw a Twee file that nobody would write and everybody might send."""
    parts: list[str] = [draw(st.sampled_from(("", "\ufeff", "stray words\n", "\n\n")))]
    if draw(st.booleans()):
        told = draw(
            st.sampled_from(
                (
                    '{"ifid":"A","format":"SugarCube","format-version":"2.30.0","start":"Cave"}',
                    '{"ifid":"A","format":"Harlowe","format-version":"3.2.1","zoom":1}',
                    '{"ifid":"A"}',
                    "{broken",
                    "[]",
                )
            )
        )
        parts.append(f":: StoryData\n{told}\n\n")
    for _ in range(draw(st.integers(0, 4))):
        name = draw(st.sampled_from(NAMES)).replace("[", "\\[").replace("]", "\\]")
        tags = draw(st.sampled_from(("", "", " [hub]", " [script]", " [a ending]", ' [x] {"p":1}')))
        body = "".join(draw(st.lists(st.sampled_from(TWEE), max_size=12)))
        parts.append(f":: {name}{tags}\n{body}\n\n")
    return "".join(parts)


ink_files = st.lists(st.sampled_from(INK), max_size=18).map("".join)


class _Weave:
    """Lines of Ink that an author might write: a story of one block, each line told apart."""

    def __init__(self, draw: st.DrawFn, places: list[str]) -> None:
        self.draw = draw
        self.places = places
        self.labels: list[str] = []

    def words(self, number: int) -> str:
        return f"{self.draw(st.sampled_from(('Rain', 'Dust', 'You wait', 'It is late')))} {number}"

    def label(self, number: int) -> str:
        if self.draw(st.integers(0, 4)):
            return ""
        self.labels.append(f"l{number}")
        return f"(l{number}) "

    def divert(self) -> str:
        return f"-> {self.draw(st.sampled_from((*self.places, 'END', 'DONE', *self.labels)))}"

    def choice(self, level: int, number: int) -> str:
        bullet = self.draw(st.sampled_from("*+"))
        asked = self.draw(
            st.sampled_from(("", "", "", "{lit} ", "{not wet} ", "{lit and not wet} "))
        )
        one, two, three = (self.words(number + at) for at in (0, 1, 2))
        forms = (f"[{one}]", one, f"{one}[{two}]", f"{one}[{two}] {three}", f"[{one}] {three}")
        told = self.draw(st.sampled_from((*forms, f"{one}[] {three}")))
        return f"{' '.join([bullet] * level)} {self.label(number)}{asked}{told}"

    def lines(self, first: int) -> list[str]:
        lines: list[str] = []
        depth, is_over = 0, False
        for number in range(first, first + 3 * self.draw(st.integers(1, 9)), 3):
            kind = self.draw(st.integers(2 if is_over else 0, 4))
            if kind == 0:
                lines.append(self.words(number))
            elif kind == 1:
                key, value = (self.draw(st.sampled_from(each)) for each in (KEYS, TRUTHS))
                lines.append(f"~ {key} = {value}")
                continue
            elif kind < 4 and not (is_over and not depth):
                depth = self.draw(st.integers(1, depth if is_over else depth + 1))
                lines.append(self.choice(depth, number))
            else:
                level = self.draw(st.integers(1, max(depth, 1)))
                depth = level - 1
                words = self.draw(st.sampled_from((self.words(number), "")))
                lines.append(f"{' '.join(['-'] * level)} {self.label(number)}{words}")
            is_over = self.draw(st.integers(0, 3)) == 0
            lines[-1] += f" {self.divert()}" if is_over else ""
        return lines


KEYS = ("lit", "wet")
TRUTHS = ("true", "false")


@st.composite
def woven_ink(draw: st.DrawFn) -> str:
    """Draw an Ink story of knots, stitches, gathers and choices, nested, sticky or offered once."""
    knots = ("cave", "hall", "pier")[: draw(st.integers(0, 3))]
    stitches = {knot: ("side", "deep")[: draw(st.sampled_from((0, 0, 1, 2)))] for knot in knots}
    places = [*knots, *(f"{knot}.{each}" for knot in knots for each in stitches[knot])]
    lines = [f"VAR {key} = false" for key in KEYS]
    if knots and draw(st.booleans()):
        lines.append(f"-> {draw(st.sampled_from(places))}")
    else:
        lines += _Weave(draw, places).lines(100)
    for at, knot in enumerate(knots, 1):
        lines += ["", f"=== {knot} ==="]
        if not stitches[knot] or draw(st.booleans()):
            lines += _Weave(draw, places).lines(1000 * at)
        for number, each in enumerate(stitches[knot], 1):
            lines += [f"= {each}", *_Weave(draw, places).lines(1000 * at + 100 * number)]
    return "\n".join([*lines, ""])
