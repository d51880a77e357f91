"""Systems: every row of the papers' tables as a short config, from copying the question to reading with a model."""

from __future__ import annotations

from longform.study.systems.kinds import KINDS, SystemSpec
from longform.study.systems.protocol import Outcome, Said, System
from longform.study.systems.settings import Settings
from longform.study.systems.tools import Tools

__all__ = ["KINDS", "Outcome", "Said", "Settings", "System", "SystemSpec", "Tools"]
