"""Scores: every official metric of long-form question answering, with error bars."""
