"""Turn: conversations about a domain's data, one durable turn per message.

`talk.Talk` is the way in for doors, `turn.Turn` the choreography for a pack, `domain.Domain` what a
pack supplies.
"""
