"""Audio, speech, seismograms."""

import numpy
import numpy as np
from scipy import signal as sps
from scipy.fft import dct

from .registry import program


def preemphasis(signal, coeff=0.95):
    return numpy.append(signal[0], signal[1:] - coeff * signal[:-1])


def framesig(sig, frame_len, frame_step, winfunc=lambda x: numpy.ones((x,))):
    slen = len(sig)
    frame_len = int(round(frame_len))
    frame_step = int(round(frame_step))
    if slen <= frame_len:
        numframes = 1
    else:
        numframes = 1 + int(numpy.ceil((1.0 * slen - frame_len) / frame_step))
    padlen = int((numframes - 1) * frame_step + frame_len)
    padsignal = numpy.concatenate((sig, numpy.zeros((padlen - slen,))))
    indices = (
        numpy.tile(numpy.arange(0, frame_len), (numframes, 1))
        + numpy.tile(numpy.arange(0, numframes * frame_step, frame_step), (frame_len, 1)).T
    )
    indices = numpy.array(indices, dtype=numpy.int32)
    return padsignal[indices] * numpy.tile(winfunc(frame_len), (numframes, 1))


def hz2mel(hz):
    return 2595 * numpy.log10(1 + hz / 700.0)


def mel2hz(mel):
    return 700 * (10 ** (mel / 2595.0) - 1)


def get_filterbanks(nfilt=20, nfft=512, samplerate=16000, lowfreq=0, highfreq=None):
    highfreq = highfreq or samplerate / 2
    assert highfreq <= samplerate / 2, "highfreq is greater than samplerate/2"
    melpoints = numpy.linspace(hz2mel(lowfreq), hz2mel(highfreq), nfilt + 2)
    bin = numpy.floor((nfft + 1) * mel2hz(melpoints) / samplerate)
    fbank = numpy.zeros([nfilt, nfft // 2 + 1])
    for j in range(0, nfilt):
        for i in range(int(bin[j]), int(bin[j + 1])):
            fbank[j, i] = (i - bin[j]) / (bin[j + 1] - bin[j])
        for i in range(int(bin[j + 1]), int(bin[j + 2])):
            fbank[j, i] = (bin[j + 2] - i) / (bin[j + 2] - bin[j + 1])
    return fbank


def lifter(cepstra, L=22):
    if L > 0:
        nframes, ncoeff = numpy.shape(cepstra)
        n = numpy.arange(ncoeff)
        return (1 + (L / 2.0) * numpy.sin(numpy.pi * n / L)) * cepstra
    else:
        return cepstra


@program(lambda r, n: (r.normal(size=n), 8000), 900, 16_000, rtol=1e-8)
def mfcc(
    signal,
    samplerate=16000,
    winlen=0.025,
    winstep=0.01,
    numcep=13,
    nfilt=20,
    nfft=256,
    appendEnergy=True,
):
    """Features of speech: frames, spectra, a bank of filters, and SciPy's cosine transform."""
    signal = preemphasis(signal, 0.97)
    frames = framesig(signal, winlen * samplerate, winstep * samplerate, numpy.hamming)
    pspec = 1.0 / nfft * numpy.square(numpy.absolute(numpy.fft.rfft(frames, nfft)))
    energy = numpy.sum(pspec, 1)
    energy = numpy.where(energy == 0, numpy.finfo(float).eps, energy)
    fb = get_filterbanks(nfilt, nfft, samplerate)
    feat = numpy.dot(pspec, fb.T)
    feat = numpy.where(feat == 0, numpy.finfo(float).eps, feat)
    feat = numpy.log(feat)
    feat = dct(feat, type=2, axis=1, norm="ortho")[:, :numcep]
    feat = lifter(feat)
    if appendEnergy:
        feat[:, 0] = numpy.log(energy)
    return feat


class Biquad:
    """A second-order section with a state that lives between blocks."""

    def __init__(self, b, a):
        if len(b) != 3 or len(a) != 3:
            raise ValueError("a biquad has three coefficients each")
        self.b = np.asarray(b, dtype=float) / a[0]
        self.a = np.asarray(a, dtype=float) / a[0]
        self.z1 = self.z2 = 0.0

    @classmethod
    def lowpass(cls, f0, fs, q=0.707):
        w0 = 2 * np.pi * f0 / fs
        alpha = np.sin(w0) / (2 * q)
        c = np.cos(w0)
        return cls([(1 - c) / 2, 1 - c, (1 - c) / 2], [1 + alpha, -2 * c, 1 - alpha])

    def process(self, x):
        y = np.empty_like(x)
        b0, b1, b2 = self.b
        _, a1, a2 = self.a
        for n, s in enumerate(x):
            out = b0 * s + self.z1
            self.z1 = b1 * s - a1 * out + self.z2
            self.z2 = b2 * s - a2 * out
            y[n] = out
        return y


@program(
    lambda r, n: ([Biquad.lowpass(f, 8000.0) for f in (500, 1200)], r.normal(size=n)), 64, 10_000
)
def equaliser(sections, block):
    """A chain of filters over one block."""
    for section in sections:
        block = section.process(block)
    peak = np.max(np.abs(block))
    if peak > 1.0:
        block = block / peak
    return block, peak


@program(
    lambda r, n: (r.normal(size=n) * (1 + 5 * (np.arange(n) > n // 2)), 10.0, 100.0, 1.5, 0.8),
    400,
    10_000,
)
def sta_lta_trigger(trace, sta, lta, on, off):
    """Onsets of a seismogram: a characteristic function and pairs of times in a list."""
    nsta, nlta = int(sta), int(lta)
    sq = np.cumsum(trace**2)
    s = sq.copy()
    l = sq.copy()
    s[nsta:] = s[nsta:] - s[:-nsta]
    s /= nsta
    l[nlta:] = l[nlta:] - l[:-nlta]
    l /= nlta
    s[: nlta - 1] = 0
    dtiny = np.finfo(0.0).tiny
    l[l < dtiny] = dtiny
    charfct = s / l
    picks, is_on, start = [], False, 0
    for i in range(len(charfct)):
        if not is_on and charfct[i] > on:
            is_on, start = True, i
        elif is_on and charfct[i] < off:
            picks.append((start, i))
            is_on = False
    if is_on:
        picks.append((start, len(charfct) - 1))
    return charfct, picks


def cos_taper(npts, p=0.1, halfcosine=True):
    if p < 0 or p > 1:
        msg = "Decimal taper percentage must be between 0 and 1."
        raise ValueError(msg)
    if p == 0.0 or p == 1.0:
        frac = int(npts * p / 2.0)
    else:
        frac = int(npts * p / 2.0 + 0.5)
    idx1, idx2, idx3, idx4 = 0, frac - 1, npts - frac, npts - 1
    if idx1 == idx2:
        idx2 += 1
    if idx3 == idx4:
        idx3 -= 1
    win = np.zeros(npts)
    win[idx1 : idx2 + 1] = 0.5 * (
        1.0 - np.cos(np.pi * (np.arange(idx1, idx2 + 1) - float(idx1)) / (idx2 - idx1))
    )
    win[idx2 + 1 : idx3] = 1.0
    win[idx3 : idx4 + 1] = 0.5 * (
        1.0 + np.cos(np.pi * (float(idx3) - np.arange(idx3, idx4 + 1)) / (idx4 - idx3))
    )
    return win


@program(lambda r, n: (r.normal(size=n).cumsum(), 0.01, 40.0), 128, 10_000, rtol=1e-8)
def remove_response(data, dt, wlev):
    """Deconvolution with a water level; the spectrum is changed in place."""
    data = data - data.mean()
    data *= cos_taper(len(data), 0.1)
    nfft = 2 * len(data)
    freqs = np.fft.rfftfreq(nfft, dt)
    poles = [-4.0 + 4.2j, -4.0 - 4.2j]
    s = 2j * np.pi * freqs
    resp = np.ones(len(freqs), dtype=complex)
    for pole in poles:
        resp *= s / (s - pole)
    swamp = np.abs(resp).max() * 10.0 ** (-wlev / 20.0)
    mag = np.abs(resp)
    idx = np.where((mag < swamp) & (mag > 0.0))
    resp[idx] *= swamp / mag[idx]
    inn = np.where(np.abs(resp) > 0.0)
    resp[inn] = 1.0 / resp[inn]
    resp[mag == 0.0] = complex(0.0, 0.0)
    spec = np.fft.rfft(data, n=nfft)
    spec *= resp
    spec[-1] = abs(spec[-1]) + 0.0j
    data = np.fft.irfft(spec)[0 : len(data)]
    return data, len(idx[0])


@program(
    lambda r, n: (np.sin(np.arange(n) * 0.1) + 0.1 * r.normal(size=n), 8000, 64, 400, 0.2),
    1000,
    2_000,
    rtol=1e-9,
)
def yin_pitch(x, fs, tau_min, tau_max, threshold):
    """The period of a voice, by a difference function and a search that ends early."""
    tau_max = min(tau_max, len(x) // 2)
    tau_min = min(tau_min, tau_max // 2)
    w = len(x) - tau_max
    df = [0.0] * tau_max
    for tau in range(1, tau_max):
        d = x[:w] - x[tau : tau + w]
        df[tau] = np.sum(d * d)
    df = np.array(df)
    cmnd = df[1:] * np.arange(1, tau_max) / np.cumsum(df[1:])
    cmnd = np.insert(cmnd, 0, 1)
    tau = tau_min
    while tau < tau_max:
        if cmnd[tau] < threshold:
            while tau + 1 < tau_max and cmnd[tau + 1] < cmnd[tau]:
                tau += 1
            return fs / tau, cmnd[tau]
        tau += 1
    return 0.0, cmnd.min()


def _pink(N, rng):
    uneven = N % 2
    X = rng.standard_normal(N // 2 + 1 + uneven) + 1j * rng.standard_normal(N // 2 + 1 + uneven)
    S = np.sqrt(np.arange(len(X)) + 1.0)
    y = (np.fft.irfft(X / S)).real
    if uneven:
        y = y[:-1]
    return y / np.sqrt((np.abs(y) ** 2.0).mean())


_generators = {"white": lambda n, rng: rng.standard_normal(n), "pink": _pink}


@program(lambda r, n: (n, "pink", np.random.default_rng(3)), 101, 10_000, rtol=1e-9)
def coloured_noise(N, color, rng):
    """Noise by the name of its colour, out of a table of functions."""
    try:
        fn = _generators[color]
    except KeyError:
        raise ValueError("Incorrect color.")
    x = fn(N, rng)
    return x, 10.0 * np.log10(np.mean(x**2))


@program(lambda r, n: (r.normal(size=n), 100.0, (1.0, 20.0)), 200, 10_000, rtol=1e-8)
def bandpass_envelope(x, fs, band):
    """SciPy's filters between NumPy's arithmetic."""
    low, high = band
    b, a = sps.butter(2, [2 * low / fs, 2 * high / fs], btype="band")
    y = sps.lfilter(b, a, x - np.mean(x))
    env = np.abs(sps.hilbert(y))
    env = env / env.max()
    return y, env, int(np.sum(env > 0.5))


@program(lambda r, n: (r.normal(size=n), 64, 16), 300, 10_000, rtol=1e-9)
def spectrogram(x, nperseg, hop):
    """Frames by a comprehension, stacked; decibels with a floor."""
    win = np.hanning(nperseg)
    frames = [x[i : i + nperseg] * win for i in range(0, len(x) - nperseg + 1, hop)]
    S = np.stack([np.abs(np.fft.rfft(f)) ** 2 for f in frames], axis=1)
    ref = S.max()
    db = 10 * np.log10(np.maximum(1e-10, S)) - 10 * np.log10(max(1e-10, ref))
    db = np.maximum(db, db.max() - 80.0)
    flux = np.sum(np.maximum(0, np.diff(db, axis=1)), axis=0)
    onsets = [
        i for i in range(1, len(flux) - 1) if flux[i] > flux[i - 1] and flux[i] >= flux[i + 1]
    ]
    return db, flux, onsets
