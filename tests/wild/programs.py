"""All programs, field by field."""

from . import (
    astronomy,
    biology,
    chemistry,
    filters,
    finance,
    graphs,
    images,
    learning,
    oceans,
    optimisation,
    physics,
    robots,
    signals,
    statistics,
)
from .registry import PROGRAMS

FIELDS = (
    astronomy,
    biology,
    chemistry,
    filters,
    finance,
    graphs,
    images,
    learning,
    oceans,
    optimisation,
    physics,
    robots,
    signals,
    statistics,
)

# What is captured whole; all others run partly, or wholly, as plain NumPy.
CAPTURED = frozenset(
    """
    astronomy.radial_velocity
    astronomy.lomb_scargle
    biology.life_by_slices
    biology.smith_waterman
    chemistry.neighbour_list
    chemistry.reactor
    filters.ekf_landmarks
    filters.lms
    filters.rts_smoother
    finance.rolling_beta
    finance.stationary_values
    graphs.floyd_warshall
    images.canny
    images.flood_fill
    images.rgb_to_hsv
    images.point_spread
    learning.hmm_forward
    learning.viterbi
    learning.char_rnn_step
    oceans.tidal_basis
    oceans.rainfall_runoff
    oceans.shallow_water
    oceans.energy_balance
    oceans.mixed_layer
    optimisation.conjugate_gradient
    physics.finite_volume
    physics.mass_properties
    robots.rotations
    signals.equaliser
    signals.sta_lta_trigger
    signals.yin_pitch
    signals.spectrogram
    statistics.lowess
    statistics.principal_components
    """.split()
)

__all__ = ["CAPTURED", "FIELDS", "PROGRAMS"]
