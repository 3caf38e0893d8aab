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
