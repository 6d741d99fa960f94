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
    astronomy.stretch_moves
    biology.life_by_slices
    biology.boids
    biology.smith_waterman
    biology.wright_fisher
    chemistry.neighbour_list
    chemistry.reactor
    filters.ekf_landmarks
    filters.particle_filter
    filters.lms
    filters.rts_smoother
    finance.rolling_beta
    finance.heston_price
    finance.stationary_values
    graphs.floyd_warshall
    images.canny
    images.flood_fill
    images.rgb_to_hsv
    images.point_spread
    learning.generate
    learning.sample_token
    learning.som_train
    learning.kmeans
    learning.hmm_forward
    learning.viterbi
    learning.char_rnn_step
    oceans.tidal_basis
    oceans.rainfall_runoff
    oceans.shallow_water
    oceans.energy_balance
    oceans.mixed_layer
    optimisation.particle_swarm
    optimisation.conjugate_gradient
    physics.finite_volume
    physics.ising
    physics.beam_fem
    physics.mass_properties
    robots.rotations
    robots.inverse_kinematics
    signals.equaliser
    signals.sta_lta_trigger
    signals.remove_response
    signals.yin_pitch
    signals.coloured_noise
    signals.spectrogram
    statistics.bootstrap
    statistics.lowess
    statistics.principal_components
    statistics.gibbs_poisson
    """.split()
)

__all__ = ["CAPTURED", "FIELDS", "PROGRAMS"]
