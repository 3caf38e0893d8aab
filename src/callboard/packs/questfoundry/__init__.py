"""QuestFoundry: a studio that writes branching books, and proves them before they ship."""
