"""Gateways: whether each opens for somebody, stays shut for somebody, and says so in the story."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from callboard.packs.questfoundry.bars.brackets import BracketProof
from callboard.packs.questfoundry.bars.checks import found
from callboard.packs.questfoundry.bars.ways import StoryWay
from callboard.packs.questfoundry.book.model import Book, Gateway, KeyChange
from callboard.packs.questfoundry.verdict import BarFinding


@dataclass(frozen=True, slots=True)
class _GatedWay:
    section: int
    way: StoryWay


def read_gateways(book: Book, proof: BracketProof | None) -> Iterator[BarFinding]:
    """Tell what is wrong with the gateways; without a start only what needs no playing."""
    grants = _grants(book)
    ways = _gated_ways(book, proof) if proof else {}
    for gateway in book.gateways:
        yield from _words(book, gateway)
        yield from _granted(gateway, grants)
        if proof and gateway.key and (gateway.negated or gateway.key in grants):
            yield from _played(gateway, ways.get(gateway.id, []), proof)
    if proof:
        for section, choice in proof.net.impossible:
            told = "it asks for a key and for the absence of the same key"
            yield found("contradiction", f"{proof.net.ids[section]}/{choice}", told)


def _words(book: Book, gateway: Gateway) -> Iterator[BarFinding]:
    place = f"gateway {gateway.id}"
    if not gateway.key.strip():
        yield found("gateway_without_key", place, "no key is named")
    if not gateway.phrase.strip():
        yield found("gateway_without_phrase", place, "nothing says what opens it")
    if not gateway.refusal.strip():
        yield found("gateway_without_refusal", place, "nothing says why it stays shut")
    at = book.by_id.get(gateway.at)
    if at is not None and all(choice.gateway != gateway.id for choice in at.choices):
        yield found("unused_gateway", place, f"no choice of {gateway.at} uses it")


def _granted(gateway: Gateway, grants: Mapping[str, set[str]]) -> Iterator[BarFinding]:
    place = f"gateway {gateway.id}"
    if gateway.key and not gateway.negated and gateway.key not in grants:
        yield found("never_granted", place, f"nothing sets {gateway.key!r}")
    else:
        wrong = sorted(set(gateway.granted_at) - grants.get(gateway.key, set()))
        if wrong:
            yield found("wrong_grant", place, f"{', '.join(wrong)} does not set {gateway.key!r}")


def _played(gateway: Gateway, ways: list[_GatedWay], proof: BracketProof) -> Iterator[BarFinding]:
    """Tell whether somebody passes, and whether somebody does not."""
    place = f"gateway {gateway.id}"
    bit, bounds = proof.net.bits[gateway.key] if ways else 0, proof.bounds
    ways = [each for each in ways if each.section not in proof.never]
    if not ways:
        return
    if all(_is_shut(gateway, bit, bounds.may[e.section], bounds.must[e.section]) for e in ways):
        word = "lack" if gateway.negated else "hold"
        told = f"nobody who stands before it can {word} {gateway.key!r}"
        yield found("key_behind_gate", place, told)
    elif not any(proof.played.taken[each.way.number] for each in ways):
        if any(each.way.number not in proof.never_ways for each in ways):
            yield found("gateway_undecided", place, "no playthrough that passes it was found")
        else:
            yield found("key_behind_gate", place, "no playthrough passes it, whatever is chosen")
    elif all(_is_open(gateway, bit, bounds.may[e.section], bounds.must[e.section]) for e in ways):
        word = "lacks" if gateway.negated else "holds"
        yield found("gateway_never_refuses", place, f"everybody there {word} {gateway.key!r}")


def _is_shut(gateway: Gateway, bit: int, may: int, must: int) -> bool:
    return bool(must & bit) if gateway.negated else not may & bit


def _is_open(gateway: Gateway, bit: int, may: int, must: int) -> bool:
    return not may & bit if gateway.negated else bool(must & bit)


def _gated_ways(book: Book, proof: BracketProof) -> dict[str, list[_GatedWay]]:
    net = proof.net
    found_ways: dict[str, list[_GatedWay]] = {}
    for number, name in enumerate(net.ids):
        choices = {c.id: c.gateway for c in book.by_id[name].choices if c.gateway is not None}
        if choices:
            for way in net.out[number]:
                gateway = choices.get(net.choices[way.number])
                if gateway is not None:
                    found_ways.setdefault(gateway, []).append(_GatedWay(number, way))
    return found_ways


def _grants(book: Book) -> dict[str, set[str]]:
    """Return where each key is set: the section, and both ends of a choice that does."""
    grants: dict[str, set[str]] = {}

    def note(effects: tuple[KeyChange, ...], *sections: str) -> None:
        for effect in effects:
            if effect.op == "set":
                grants.setdefault(effect.key, set()).update(sections)

    for section in book.sections:
        note(section.effects, section.id)
        for choice in section.choices:
            if choice.effects:
                note(choice.effects, section.id, choice.to)
    return grants
