"""Arms, vehicles, maps, rigid bodies."""

import copy
import math
import random

import numpy as np

from .registry import program

EPS = np.finfo(np.float64).eps


def isvector(v, dim=None):
    if (
        isinstance(v, (list, tuple))
        and (dim is None or len(v) == dim)
        and all(isinstance(x, (int, float)) for x in v)
    ):
        return True
    if isinstance(v, np.ndarray):
        s = v.shape
        if dim is None:
            return (len(s) == 1 and s[0] > 0) or (s[0] == 1 and s[1] > 0)
        return s == (dim,) or s == (1, dim) or s == (dim, 1)
    return False


def getvector(v, dim=None, out="array"):
    if not isvector(v, dim):
        raise ValueError("not a vector of length {}".format(dim))
    return np.asarray(v, dtype=np.float64).flatten()


def skew(v):
    v = getvector(v, 3)
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def rodrigues(w, theta=None):
    w = getvector(w, 3)
    if theta is None:
        theta = np.linalg.norm(w)
        if theta < 10 * EPS:
            return np.eye(3)
        w = w / theta
    S = skew(w)
    return np.eye(3) + math.sin(theta) * S + (1.0 - math.cos(theta)) * S @ S


@program(lambda r, n: (r.normal(size=(n, 3)), [0.0, 0.0, 1.0], 0.3), 4, 50, rtol=1e-9)
def rotations(vectors, axis, angle):
    """Rotation matrices with checks of every argument, lists and arrays alike."""
    R = rodrigues(axis, angle)
    out = []
    for v in vectors:
        R = R @ rodrigues(v)
        out.append(R[:, 0])
    return np.array(out), R


class Link:
    def __init__(self, d, a, alpha, offset=0.0, qlim=(-math.pi, math.pi)):
        self.d, self.a, self.alpha, self.offset = d, a, alpha, offset
        self.qlim = qlim

    def A(self, q):
        ct, st = math.cos(q + self.offset), math.sin(q + self.offset)
        ca, sa = math.cos(self.alpha), math.sin(self.alpha)
        return np.array(
            [
                [ct, -st * ca, st * sa, self.a * ct],
                [st, ct * ca, -ct * sa, self.a * st],
                [0, sa, ca, self.d],
                [0, 0, 0, 1],
            ]
        )


class Arm:
    def __init__(self, links, name="arm"):
        self._links = list(links)
        self.name = name
        self.q = np.zeros(len(links))

    def __getitem__(self, i):
        return self._links[i]

    def __len__(self):
        return len(self._links)

    def fkine(self, q):
        T = np.eye(4)
        for link, qi in zip(self._links, q):
            T = T @ link.A(qi)
        return T

    def jacobian(self, q):
        n = len(self)
        J = np.zeros((6, n))
        Te = self.fkine(q)[:3, 3]
        T = np.eye(4)
        for j in range(n):
            z, p = T[:3, 2], T[:3, 3]
            J[:3, j] = np.cross(z, Te - p)
            J[3:, j] = z
            T = T @ self[j].A(q[j])
        return J


def make_arm(rng, size):
    arm = Arm(
        [
            Link(0.3, 0.1, math.pi / 2),
            Link(0.0, 0.5, 0.0),
            Link(0.1, 0.4, 0.0),
            Link(0.2, 0.0, math.pi / 2),
        ]
    )
    return arm, np.array([0.4, 0.2, 0.6]), size


@program(make_arm, 5, 30, rtol=1e-8)
def inverse_kinematics(arm, target, max_iter, tol=1e-3):
    """Damped least squares with joint limits of link objects; the arm keeps its pose."""
    q = arm.q.copy() + 0.1
    for it in range(max_iter):
        err = target - arm.fkine(q)[:3, 3]
        if np.linalg.norm(err) < tol:
            break
        J = arm.jacobian(q)[:3]
        dq = J.T @ np.linalg.solve(J @ J.T + 0.01 * np.eye(3), err)
        q += dq
        for j in range(len(arm)):
            lo, hi = arm[j].qlim
            q[j] = min(max(q[j], lo), hi)
    arm.q = q
    return it, np.linalg.norm(err)


class State:
    def __init__(self, x=0.0, y=0.0, yaw=0.0, v=0.0):
        self.x, self.y, self.yaw, self.v = x, y, yaw, v
        self.rear_x = self.x - 1.45 * math.cos(self.yaw)

    def update(self, a, delta, dt=0.1, L=2.9):
        self.x += self.v * math.cos(self.yaw) * dt
        self.y += self.v * math.sin(self.yaw) * dt
        self.yaw += self.v / L * math.tan(delta) * dt
        self.v += a * dt
        self.rear_x = self.x - 1.45 * math.cos(self.yaw)


def calc_target_index(state, cx, cy, Lf):
    dx = [state.rear_x - icx for icx in cx]
    dy = [state.y - icy for icy in cy]
    d = [abs(math.sqrt(idx**2 + idy**2)) for (idx, idy) in zip(dx, dy)]
    ind = d.index(min(d))
    L = 0.0
    while Lf > L and (ind + 1) < len(cx):
        dx = cx[ind + 1] - cx[ind]
        dy = cy[ind + 1] - cy[ind]
        L += math.sqrt(dx**2 + dy**2)
        ind += 1
    return ind


@program(lambda r, n: (np.arange(0, n * 0.5, 0.5), State(y=-3.0), 5), 12, 120, rtol=1e-9)
def pure_pursuit(cx, state, steps):
    """A car follows a course; lists of distances, and history in lists."""
    cy = [math.sin(ix / 5.0) * ix / 2.0 for ix in cx]
    xs, yaws = [state.x], [state.yaw]
    target = calc_target_index(state, cx, cy, 2.0)
    for _ in range(steps):
        ai = 1.0 * (10.0 / 3.6 - state.v)
        ind = calc_target_index(state, cx, cy, 0.1 * state.v + 2.0)
        target = max(target, ind)
        if target < len(cx):
            tx, ty = cx[target], cy[target]
        else:
            tx, ty = cx[-1], cy[-1]
        alpha = math.atan2(ty - state.y, tx - state.rear_x) - state.yaw
        delta = math.atan2(2.0 * 2.9 * math.sin(alpha) / (0.1 * state.v + 2.0), 1.0)
        state.update(ai, delta)
        xs.append(state.x)
        yaws.append(state.yaw)
    return xs, yaws, target


class RRTNode:
    def __init__(self, x, y):
        self.x, self.y, self.parent = x, y, None


@program(lambda r, n: ((0.0, 0.0), (6.0, 8.0), r.uniform(1, 7, (4, 2)), n), 12, 60)
def rrt(start, goal, obstacles, max_iter, expand=0.8, goal_rate=10):
    """A random tree in the plane: nodes in a list, draws of Python's random, deep copies."""
    nodes = [RRTNode(*start)]
    for _ in range(max_iter):
        if random.randint(0, 100) > goal_rate:
            rnd = (random.uniform(-1, 9), random.uniform(-1, 9))
        else:
            rnd = goal
        dlist = [(n.x - rnd[0]) ** 2 + (n.y - rnd[1]) ** 2 for n in nodes]
        nearest_ind = dlist.index(min(dlist))
        nearest = nodes[nearest_ind]
        theta = math.atan2(rnd[1] - nearest.y, rnd[0] - nearest.x)
        new = copy.deepcopy(nearest)
        new.x += expand * math.cos(theta)
        new.y += expand * math.sin(theta)
        new.parent = nearest_ind
        if any((ox - new.x) ** 2 + (oy - new.y) ** 2 <= 0.25 for ox, oy in obstacles):
            continue
        nodes.append(new)
        if math.hypot(new.x - goal[0], new.y - goal[1]) <= expand:
            break
    return [[n.x, n.y] for n in nodes], [n.parent for n in nodes]


@program(lambda r, n: (r.normal(size=(n, 2)), 0.3, np.array([0.2, -0.1]), 8), 12, 200, rtol=1e-7)
def icp(points, angle, shift, max_iter):
    """Registration of point clouds: nearest neighbours, an SVD, an error that must fall."""
    R0 = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    previous = (points @ R0.T + shift).T
    current = points.T.copy()
    H = None
    dError, preError = np.inf, np.inf
    count = 0
    while dError >= 1e-4:
        count += 1
        d = np.linalg.norm(
            np.repeat(current, previous.shape[1], axis=1)
            - np.tile(previous, (1, current.shape[1])),
            axis=0,
        )
        indexes = np.argmin(d.reshape(current.shape[1], previous.shape[1]), axis=1)
        error = np.sum(np.min(d.reshape(current.shape[1], previous.shape[1]), axis=1))
        pm, cm = np.mean(previous[:, indexes], axis=1), np.mean(current, axis=1)
        W = (current - cm[:, np.newaxis]) @ (previous[:, indexes] - pm[:, np.newaxis]).T
        u, s, vh = np.linalg.svd(W)
        R = (u @ vh).T
        t = pm - (R @ cm)
        current = (R @ current) + t[:, np.newaxis]
        Hn = np.zeros((3, 3))
        Hn[0:2, 0:2], Hn[0:2, 2], Hn[2, 2] = R, t, 1.0
        H = Hn if H is None else H @ Hn
        dError = preError - error
        if dError < 0:
            print("Not Converge...", count)
            break
        preError = error
        if dError <= 1e-4 or max_iter <= count:
            break
    return np.array(H[0:2, 0:2]), np.array(H[0:2, 2]), count


class GridMap:
    def __init__(self, size, resolution=0.1):
        self.log_odds = np.zeros((size, size))
        self.resolution = resolution
        self.shape = self.log_odds.shape

    def index(self, p):
        return tuple(int(round(c / self.resolution)) for c in p)


def bresenham(start, end):
    x1, y1 = start
    x2, y2 = end
    dx, dy = x2 - x1, y2 - y1
    is_steep = abs(dy) > abs(dx)
    if is_steep:
        x1, y1 = y1, x1
        x2, y2 = y2, x2
    swapped = False
    if x1 > x2:
        x1, x2 = x2, x1
        y1, y2 = y2, y1
        swapped = True
    dx, dy = x2 - x1, y2 - y1
    error = int(dx / 2.0)
    y_step = 1 if y1 < y2 else -1
    y = y1
    points = []
    for x in range(x1, x2 + 1):
        points.append([y, x] if is_steep else (x, y))
        error -= abs(dy)
        if error < 0:
            y += y_step
            error += dx
    if swapped:
        points.reverse()
    return np.array(points)


@program(
    lambda r, n: (GridMap(100), (5.0, 5.0), r.uniform(0, 2 * np.pi, n), r.uniform(1, 4.5, n)),
    6,
    60,
    rtol=1e-9,
)
def occupancy(grid, pose, angles, ranges):
    """Beams of a scan in a map: lines of cells from a classic, written one by one."""
    for angle, dist in zip(angles, ranges):
        end = (pose[0] + dist * math.cos(angle), pose[1] + dist * math.sin(angle))
        cells = bresenham(grid.index(pose), grid.index(end))
        for cx, cy in cells[:-1]:
            grid.log_odds[cx, cy] -= 0.4
        grid.log_odds[tuple(cells[-1])] += 0.85
    np.clip(grid.log_odds, -5, 5, out=grid.log_odds)
    return 1 - 1 / (1 + np.exp(grid.log_odds))
