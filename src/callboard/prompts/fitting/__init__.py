"""Fitting: a conversation that outgrew its window is selected, summarised or cut, visibly."""

from callboard.prompts.fitting.fitter import LEFT_OUT, Archive, Fitter, FittingPolicy
from callboard.prompts.fitting.summary import Summarise

__all__ = ["LEFT_OUT", "Archive", "Fitter", "FittingPolicy", "Summarise"]
