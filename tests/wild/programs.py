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
    astronomy.n_body
    astronomy.lomb_scargle
    astronomy.stretch_moves
    biology.game_of_life
    biology.life_by_slices
    biology.boids
    biology.smith_waterman
    biology.wright_fisher
    chemistry.verlet
    chemistry.neighbour_list
    chemistry.reactor
    filters.kalman_batch
    filters.kalman_scalar_noise
    filters.ekf_landmarks
    filters.unscented
    filters.particle_filter
    filters.lms
    filters.alpha_beta
    filters.rts_smoother
    finance.rolling_beta
    finance.implied_volatility
    finance.heston_price
    finance.stationary_values
    graphs.pagerank
    graphs.floyd_warshall
    images.canny
    images.otsu
    images.flood_fill
    images.rgb_to_hsv
    images.point_spread
    learning.train_step
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
    oceans.perez_sky
    oceans.energy_balance
    oceans.despike_profile
    oceans.mixed_layer
    optimisation.particle_swarm
    optimisation.genetic
    optimisation.conjugate_gradient
    optimisation.levenberg_marquardt
    physics.lattice_boltzmann
    physics.finite_volume
    physics.ising
    physics.fdtd
    physics.heat_implicit
    physics.beam_fem
    physics.mass_properties
    robots.rotations
    robots.inverse_kinematics
    robots.pure_pursuit
    signals.mfcc
    signals.equaliser
    signals.sta_lta_trigger
    signals.remove_response
    signals.yin_pitch
    signals.coloured_noise
    signals.bandpass_envelope
    signals.spectrogram
    statistics.bootstrap
    statistics.lowess
    statistics.kernel_density
    statistics.principal_components
    statistics.gibbs_poisson
    statistics.autocorrelation_time
    """.split()
)

__all__ = ["CAPTURED", "FIELDS", "PROGRAMS"]
