"""Audits: checks that a system's scores mean what they seem to (Krishna et al., 2021, *Hurdles*)."""
