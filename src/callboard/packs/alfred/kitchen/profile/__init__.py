"""The profile: asked once, used everywhere; what keeps people safe is never left out."""

from callboard.packs.alfred.kitchen.profile.onboarding import Onboarding, questions
from callboard.packs.alfred.kitchen.profile.views import UserProfile, load_profile, profile_view

__all__ = ["Onboarding", "UserProfile", "load_profile", "profile_view", "questions"]
