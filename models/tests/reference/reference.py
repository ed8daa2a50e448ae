#!/usr/bin/env python3
"""A second, literal implementation of the published model (readings R1..R12 of ../../README.md).

Every equation is a direct transcription; nothing is simplified algebraically.
The only caching is of sums that depend on n alone.
"""
import itertools
import json
import math
import sys
from functools import lru_cache

import numpy as np

TOL = 1e-9          # R12
TINY_DOWN = 1e-14   # R6, replacement of a non-positive downward rate
RES_STOP = 1e-13    # R5
INF = float("inf")


# ----------------------------------------------------------------------------
# the Markov chain on the 2^R subsets of real-time classes  (7), (8), (6)
# ----------------------------------------------------------------------------
def comb_index_states(R, c):
    """k -> state Z = {c} + combination k of the OTHER classes (k=0: none)."""
    others = [j for j in range(R) if j != c]
    states = []
    for k in range(2 ** len(others)):
        z = 1 << c
        for bit, j in enumerate(others):
            if (k >> bit) & 1:
                z |= 1 << j
        states.append(z)
    return states


def S_of_Z(c, Z, vtick):                                            # (7)
    return vtick[c] * sum(1.0 / vtick[j] for j in range(len(vtick)) if (Z >> j) & 1)


def stationary(Q, method="dense"):
    n = Q.shape[0]
    if method == "gth":             # only used for the accuracy cross-check
        A = Q.copy()
        np.fill_diagonal(A, 0.0)
        for m in range(n - 1, 0, -1):
            A[:m, m] /= A[m, :m].sum()
            A[:m, :m] += np.outer(A[:m, m], A[m, :m])
        pi = np.zeros(n)
        pi[0] = 1.0
        for m in range(1, n):
            pi[m] = pi[:m] @ A[:m, m]
        return pi / pi.sum()
    A = Q.T.copy()
    A[-1, :] = 1.0
    rhs = np.zeros(n)
    rhs[-1] = 1.0
    return np.linalg.solve(A, rhs)


CHAIN_METHOD = "dense"
PAT_SCALE = 20.0
MIN_STEP = 2e-4
MAX_ITER = 80000


def chain(up, L_of_Z, vtick):
    """up[c]; L_of_Z(c, S) latency of class c when a flit takes S cycles.
    Returns pi, Pck[c][k], Sck[c][k], S[c], sat[c]."""
    R = len(vtick)
    N = 2 ** R
    Q = np.zeros((N, N))
    sat = [False] * R
    for Z in range(N):
        for c in range(R):
            if (Z >> c) & 1:
                down = 1.0 / L_of_Z(c, S_of_Z(c, Z, vtick)) - up[c]
                if not (down > 0.0):
                    sat[c] = True
                    down = TINY_DOWN                                # R6
                lo = Z & ~(1 << c)
                Q[lo, Z] += up[c]
                Q[Z, lo] += down
    for Z in range(N):
        Q[Z, Z] = -(Q[Z].sum() - Q[Z, Z])
    pi = stationary(Q, CHAIN_METHOD)
    Pck, Sck, S = [], [], []
    for c in range(R):
        states = comb_index_states(R, c)
        tot = sum(pi[Z] for Z in states)
        p = [float(pi[Z] / tot) for Z in states]                     # (8)
        s = [S_of_Z(c, Z, vtick) for Z in states]
        Pck.append(p)
        Sck.append(s)
        S.append(sum(a * b for a, b in zip(s, p)))                   # (6)
    return pi, Pck, Sck, S, sat


# ----------------------------------------------------------------------------
# R5: damped fixed-point iteration on a flat vector
# ----------------------------------------------------------------------------
def fixed_point(G, x0, max_iter=MAX_ITER, patience=100, step0=0.5):
    x = np.array(x0, float)
    step = step0
    best = INF
    best_x = x.copy()
    since = 0
    it = 0
    halvings = 0
    while it < max_iter:
        it += 1
        y = np.array(G(x), float)
        d = np.abs(y - x)
        scale = np.maximum(np.maximum(np.abs(x), np.abs(y)), 1e-300)
        res = float(np.max(np.where(d == 0, 0.0, d / scale)))
        if not math.isfinite(res):
            return best_x, it, best, step, halvings, "non-finite"
        if res < best:
            best, best_x, since = res, x.copy(), 0
        else:
            since += 1
        if res <= RES_STOP:
            return x, it, res, step, halvings, "converged"
        if since >= max(patience, PAT_SCALE / step):
            step *= 0.5
            halvings += 1
            since = 0
            if step < MIN_STEP:
                break
            if best < 1e-11 and halvings > 6:       # round-off floor of the chain solve
                break
        x = x + step * (y - x)
    return best_x, it, best, step, halvings, ("roundoff" if best < 1e-11 else "not-converged")


# ----------------------------------------------------------------------------
# single router
# ----------------------------------------------------------------------------
class Common:
    def __init__(self, sc):
        self.P = sc.get("pipeline_stages", 5)
        self.b = sc.get("buffer_flits", 32)
        cl = sc["classes"]
        self.names = [c["name"] for c in cl]
        self.kinds = [c["kind"] for c in cl]
        self.g = [float(c["rate"]) for c in cl]
        self.M = [c["message_flits"] for c in cl]
        self.m = [max(self.b, M) for M in self.M]
        self.R = sum(1 for k in self.kinds if k == "real-time")
        self.C = len(cl)
        assert all(k == "real-time" for k in self.kinds[:self.R])
        assert self.C - self.R in (0, 1)
        self.has_be = self.C > self.R
        self.vtick = []
        for i in range(self.R):
            v = cl[i].get("vtick")
            self.vtick.append(1.0 / (self.g[i] * self.M[i]) if v is None else float(v))
        self.expo = [1 + 2 * self.m[c] / self.M[c] for c in range(self.C)]
        self.deadlines = [c.get("deadlines") or [] for c in cl]


def solve_router(sc, step0=0.5, patience=100, start=None):
    k = Common(sc)
    C, R, P, M, m, g = k.C, k.R, k.P, k.M, k.m, k.g
    info = {}

    def rest(Pb, S_state):
        lam = [(1 - Pb[c]) * g[c] for c in range(C)]                 # (4)
        B = [Pb[c] * (m[c] + M[c] / 2) for c in range(C)]            # (5)
        S = [1.0] * C
        info.update(pi=None, Pck=[], Sck=[], sat=[False] * C, pi_empty=1.0)
        if R:
            pi, Pck, Sck, Srt, sat = chain(
                lam[:R], lambda c, Sz: P - 1 + (B[c] + M[c]) * Sz, k.vtick)
            S[:R] = Srt
            info.update(pi=[float(v) for v in pi], Pck=Pck, Sck=Sck, pi_empty=float(pi[0]))
            info["sat"] = sat + [False] * (C - R)
        if k.has_be:
            rho = 1 - info["pi_empty"]
            if R:
                Mr = sum(lam[c] * M[c] ** 2 for c in range(R)) / sum(lam[c] * M[c] for c in range(R))  # R4
            else:
                Mr = 0.0
            S[C - 1] = (1 + rho * Mr / (2 * M[C - 1] * (1 - rho))) / (1 - rho)   # (9)
            info.update(rho_r=rho, M_r=Mr)
        if S_state is None:
            S_state = S
        L = [P - 1 + (M[c] + B[c]) * S_state[c] for c in range(C)]   # (2)
        return lam, B, L, S

    def G(x):
        Pb, L, S = x[:C], x[C:2 * C], x[2 * C:]
        lam, B, L2, S2 = rest(Pb, S)
        Pb2 = [min(1.0, L[c] * lam[c]) ** k.expo[c] for c in range(C)]   # (3) R2
        return np.concatenate([Pb2, L2, S2])

    x0 = [0.0] * C + [float(P - 1 + M[c]) for c in range(C)] + [1.0] * C
    if start is not None:           # diagnostics only
        x0 = start(np.array(x0, float), C)
    x, it, res, step, halv, status = fixed_point(G, x0, step0=step0, patience=patience)
    Pb, L, S = x[:C], x[C:2 * C], x[2 * C:]
    lam = [(1 - Pb[c]) * g[c] for c in range(C)]
    Pb = [min(1.0, L[c] * lam[c]) ** k.expo[c] for c in range(C)]    # re-evaluated
    lam, B, L, S = rest(Pb, None)

    out = dict(topology="router", iterations=it, residual=res, status=status,
               final_step=step, pi=info["pi"], pi_empty=info["pi_empty"], classes=[])
    for c in range(C):
        T = P - 1 + M[c]
        W = wait(g[c], L[c], T, S[c])
        d = dict(name=k.names[c], kind=k.kinds[c], network_latency=L[c], waiting=W,
                 total=None if W is None else L[c] + W, S=S[c], P_b=Pb[c], B=B[c], rate=lam[c],
                 gL=g[c] * L[c],
                 saturated=bool(g[c] * L[c] >= 1 or info["sat"][c]),
                 down_rate_nonpositive=bool(info["sat"][c]))
        if c < R:
            d["S_k"], d["P_k"] = info["Sck"][c], info["Pck"][c]
            d["dmp"] = []
            for D in k.deadlines[c]:
                if isinstance(D, dict):
                    d["dmp"].append(None)
                    continue
                d["dmp"].append(dmp_router(D, P, M[c], m[c], Pb[c], info["Pck"][c], info["Sck"][c], k.b))
        out["classes"].append(d)
    return out


def wait(g, L, T, S):
    if g * L >= 1:
        return None                                                  # R6
    delta2 = (L - T) ** 2
    return g * (L ** 2 + delta2) / (2 * (1 - g * L)) + S             # (15)


# ----------------------------------------------------------------------------
# deadline missing probability: enumeration of every atom
# ----------------------------------------------------------------------------
def feasible(nvar, M, b):
    return nvar in (0, 1, 3) or (nvar == 7 and M <= 3 and b <= 3)


def atoms_given_nf(nf, pk, sk):
    """Yields (beta array, probability array) over all (X_1..X_K) with sum <= nf,
    R10; the probabilities of all yielded arrays together sum to 1."""
    K = len(pk) - 1

    def px(k, X):                                                    # (19)
        return 1 - pk[k] if X == 0 else pk[k] / nf

    if K == 0:
        return [(np.array([nf * sk[0]]), np.array([1.0]))]
    chunks = []
    if K == 1:
        beta, prob = [], []
        for X1 in range(nf + 1):
            beta.append((nf - X1) * sk[0] + X1 * sk[1])
            prob.append(px(1, X1))
        chunks.append((np.array(beta), np.array(prob)))
    elif K == 3:
        p2 = np.array([px(2, X) for X in range(nf + 1)])
        p3 = np.array([px(3, X) for X in range(nf + 1)])
        for X1 in range(nf + 1):
            r = nf - X1
            X2, X3 = np.meshgrid(np.arange(r + 1), np.arange(r + 1), indexing="ij")
            ok = X2 + X3 <= r
            X2, X3 = X2[ok], X3[ok]
            X0 = nf - X1 - X2 - X3
            chunks.append((X0 * sk[0] + X1 * sk[1] + X2 * sk[2] + X3 * sk[3],
                           px(1, X1) * p2[X2] * p3[X3]))
    else:
        beta, prob = [], []

        def rec(k, left, bsum, p):
            if k > K:
                beta.append(bsum + left * sk[0])
                prob.append(p)
                return
            for X in range(left + 1):
                rec(k + 1, left - X, bsum + X * sk[k], p * px(k, X))
        rec(1, nf, 0.0, 1.0)
        chunks.append((np.array(beta), np.array(prob)))
    norm = sum(float(p.sum()) for _, p in chunks)
    return [(bt, p / norm) for bt, p in chunks]


def dmp_router(D, P, M, m, Pb, pk, sk, b):
    K = len(pk) - 1
    if not feasible(K, M, b):
        return None
    if D < P - 1:
        return 1.0
    U = 2 * m + M
    ok = 0.0
    for B in range(0, U + 1):
        pB = 1 - Pb if B == 0 else Pb / U                            # (18)
        for beta, prob in atoms_given_nf(B + M, pk, sk):
            ok += pB * float(prob[beta <= D - (P - 1) + TOL].sum())  # (16), (17), R12
    return 1 - ok


def channel_pmf(M, m, Pb, pk, sk, ejection):
    """p.m.f. of beta rounded up to whole cycles."""
    U = 2 * m + M
    size = int(math.ceil((U + M) * max(sk))) + 2
    pmf = np.zeros(size)
    for B in range(0, U + 1):
        pB = 1 - Pb if B == 0 else Pb / U                            # (23)
        nf = B + M if ejection else B
        if nf == 0:
            pmf[0] += pB
            continue
        for beta, prob in atoms_given_nf(nf, pk, sk):
            cyc = np.ceil(beta - TOL).astype(int)
            pmf += np.bincount(cyc, weights=prob * pB, minlength=size)
    return np.trim_zeros(pmf, "b")


# ----------------------------------------------------------------------------
# hypercube
# ----------------------------------------------------------------------------
comb = math.comb


@lru_cache(None)
def Pk(n, k):
    return comb(n, k) / (2 ** n - 1)


@lru_cache(None)
def hbar(n):
    return sum(k * Pk(n, k) for k in range(1, n + 1))


@lru_cache(None)
def h_s(n, s):
    return sum((k + 1) * comb(n - s - 1, k) / 2 ** (n - s - 1) for k in range(0, n - s))


@lru_cache(None)
def f_s(n, s):
    return sum(Pk(n, k) * comb(n - s - 1, k - 1) / comb(n, k) for k in range(1, n - s + 1))


@lru_cache(None)
def transit_share(n, s):
    """lambda^{t,s} / lambda_c"""
    return sum(Pk(n, k) * sum(comb(s, j - 1) * comb(n - s - 1, k - j) / comb(n, k)
                              for j in range(max(2, k - n + s + 1), min(s + 1, k) + 1))
               for k in range(2, n + 1))


@lru_cache(None)
def S_func(n, s, j):
    return sum(comb(n - s - 1, mm) * sum(Pk(n, mm + k + 1) * comb(s, k) / comb(n, mm + k + 1)
                                         for k in range(0, s + 1))
               for mm in range(j, n - s))


@lru_cache(None)
def Pt(n, s):
    return sum(Pk(n, k + 1) * comb(s, k) / comb(n, k + 1) / S_func(n, s, 0) for k in range(0, s + 1))


@lru_cache(None)
def H(n, j, s):
    return sum(sum(Pk(n, mm + k + 2) * comb(n - j - 1, mm) * comb(s, k) / comb(n, mm + k + 2)
                   * (mm + 1) / S_func(n, s, 1) for k in range(0, s + 1))
               for mm in range(0, n - j))


@lru_cache(None)
def mid_ratio(n, j, s):
    num = sum(Pk(n, mm + 2) * (mm + 1) * comb(n - j - 1, mm) / comb(n, mm + 2) for mm in range(0, n - j))
    den = sum(Pk(n, mm + 2) * comb(n - s - 1, mm + 1) / comb(n, mm + 2) for mm in range(0, n - s - 1))
    return num / den


def solve_cube(sc, step0=0.5, patience=100, start=None):
    k = Common(sc)
    C, R, P, M, m, g = k.C, k.R, k.P, k.M, k.m, k.g
    n = sc["dimension"]
    info = {}
    NS = n + 1

    def blocks(Pb):
        """everything that follows from P_b alone"""
        first = [[(1 - Pb[c][s]) * g[c] * f_s(n, s) for s in range(n)] for c in range(C)]   # (12)
        lam = [sum(first[c]) for c in range(C)]
        tot = [lam[c] * hbar(n) / n for c in range(C)]
        I = [[Pb[c][s] * m[c] / 2 for s in range(n)] for c in range(C)]
        O = [Pb[c][n] * (m[c] / 2 + M[c] / 2) for c in range(C)]
        Bmid = []
        undefined = [False] * C
        for c in range(C):
            d = [0.0] * n
            for s in range(n - 1, -1, -1):
                d[s] = 0.5 * (m[c] + M[c] + (1 - Pt(n, s)) * sum(
                    Pb[c][j] * (d[j] + m[c]) * H(n, j, s) for j in range(s + 1, n)))
            row = []
            for s in range(n):
                if s == n - 1:
                    row.append(0.0)
                    continue
                fl = first[c][s]
                if not fl > 0:
                    undefined[c] = True
                    fl = 1e-14 * g[c] * f_s(n, s)
                row.append((1 - Pk(n, 1) * lam[c] / (n * fl)) * sum(
                    Pb[c][j] * (m[c] + d[j]) * mid_ratio(n, j, s) for j in range(s + 1, n)))
            Bmid.append(row)
        return first, lam, tot, I, O, Bmid, undefined

    def shares(blk, L, S, SN):
        """chains and best-effort; returns S2[c][0..n], SN2[c][s] = S_{c,n} seen by s"""
        first, lam, tot, I, O, Bmid, _ = blk
        S2 = [[1.0] * NS for _ in range(C)]
        SN2 = [[1.0] * n for _ in range(C)]
        sat = [False] * C
        pe = [1.0] * NS
        Pck = [[None] * NS for _ in range(C)]
        Sck = [[None] * NS for _ in range(C)]
        if R:
            for s in range(n):
                def LZ(c, Sz, s=s):
                    return (P - 1 + P * h_s(n, s) + (O[c] + M[c]) * S[c][n]
                            + (I[c][s] + Bmid[c][s]) * Sz)                                 # (10) R8
                pi, pc, sk, Sr, st = chain(tot[:R], LZ, k.vtick)
                pe[s] = float(pi[0])
                for c in range(R):
                    S2[c][s] = Sr[c]
                    Pck[c][s], Sck[c][s] = pc[c], sk[c]
                    sat[c] = sat[c] or st[c]
            pi, pc, sk, Sr, st = chain(lam[:R], lambda c, Sz: P - 1 + (O[c] + M[c]) * Sz, k.vtick)
            pe[n] = float(pi[0])
            for c in range(R):
                S2[c][n] = Sr[c]
                SN2[c] = [Sr[c]] * n
                Pck[c][n], Sck[c][n] = pc[c], sk[c]
                sat[c] = sat[c] or st[c]
        if k.has_be:
            c = C - 1
            Mb = M[c]

            def busy(p0, rates):
                if not R:
                    return 0.0
                idle = 1 / sum(rates)
                return idle * (1 - p0) / p0
            for s in range(n):
                rho = 1 - pe[s]
                bz = busy(pe[s], tot[:R])
                Sm = (Mb + Mb * rho) * pe[s] + (Mb + bz) * (1 + rho) * (1 - pe[s])          # (13)
                S2[c][s] = Sm / Mb
            rho = 1 - pe[n]
            bz = busy(pe[n], lam[:R])
            for s in range(n):
                Ms = max(Mb, (Mb - 1) * S2[c][s] + 1 - Bmid[c][s])
                Sm = Ms * (1 + rho) * pe[n] + (Ms / 2 + bz + Mb / 2) * (1 + rho) * (1 - pe[n])
                SN2[c][s] = Sm / Mb
            wsum = sum(first[c])
            S2[c][n] = sum(SN2[c][s] * first[c][s] for s in range(n)) / wsum if wsum > 0 else sum(SN2[c]) / n  # R9
        info.update(pe=pe, Pck=Pck, Sck=Sck, sat=sat)
        return S2, SN2

    def lat(blk, S, SN):
        first, lam, tot, I, O, Bmid, _ = blk
        L = []
        for c in range(C):
            row = [P - 1 + P * h_s(n, s) + (O[c] + M[c]) * SN[c][s] + (I[c][s] + Bmid[c][s]) * S[c][s]
                   for s in range(n)]                                                       # (10) R9
            row.append(P - 1 + (O[c] + M[c]) * S[c][n])                                     # R7
            L.append(row)
        return L

    def pblock(blk, L):
        first, lam, tot = blk[:3]
        Pb = []
        for c in range(C):
            row = [min(1.0, max(0.0, L[c][s] * tot[c])) ** k.expo[c] for s in range(n)]     # (11)
            row.append(min(1.0, max(0.0, L[c][n] * lam[c])) ** k.expo[c])                   # R7
            Pb.append(row)
        return Pb

    n1 = C * NS

    def unpack(x):
        Pb = x[:n1].reshape(C, NS).tolist()
        L = x[n1:2 * n1].reshape(C, NS).tolist()
        S = x[2 * n1:3 * n1].reshape(C, NS).tolist()
        SN = x[3 * n1:].reshape(C, n).tolist()
        return Pb, L, S, SN

    def G(x):
        Pb, L, S, SN = unpack(x)
        blk = blocks(Pb)
        S2, SN2 = shares(blk, L, S, SN)
        L2 = lat(blk, S, SN)
        Pb2 = pblock(blk, L)
        return np.concatenate([np.ravel(Pb2), np.ravel(L2), np.ravel(S2), np.ravel(SN2)])

    L0 = [[P - 1 + P * h_s(n, s) + M[c] for s in range(n)] + [P - 1 + M[c]] for c in range(C)]
    x0 = np.concatenate([np.zeros(n1), np.ravel(np.array(L0, float)), np.ones(n1), np.ones(C * n)])
    if start is not None:           # diagnostics only
        x0 = start(np.array(x0, float), C)
    x, it, res, step, halv, status = fixed_point(G, x0, step0=step0, patience=patience)
    Pb, L, S, SN = unpack(x)
    Pb = pblock(blocks(Pb), L)                       # re-evaluated
    blk = blocks(Pb)
    S, SN = shares(blk, L, S, SN)
    L = lat(blk, S, SN)
    first, lam, tot, I, O, Bmid, undefined = blk

    out = dict(topology="hypercube", dimension=n, iterations=it, residual=res, status=status,
               final_step=step, pi_empty=info["pe"], classes=[])
    for c in range(C):
        w = lam[c]
        Lc = sum(L[c][s] * first[c][s] for s in range(n)) / w if w > 0 else None
        Sc = sum(S[c][s] * first[c][s] for s in range(n)) / w if w > 0 else None            # (14)
        T = P - 1 + P * hbar(n) + M[c]
        W = wait(g[c], Lc, T, Sc) if Lc is not None else None
        d = dict(name=k.names[c], kind=k.kinds[c], network_latency=Lc, waiting=W,
                 total=None if W is None else Lc + W, S=Sc, O=O[c], rate=lam[c],
                 gL=None if Lc is None else g[c] * Lc,
                 saturated=bool(Lc is None or g[c] * Lc >= 1 or info["sat"][c]),
                 down_rate_nonpositive=bool(info["sat"][c]), bmid_undefined=undefined[c],
                 channels=[])
        for s in range(n):
            d["channels"].append(dict(L=L[c][s], P_b=Pb[c][s], S=S[c][s], S_ejection=SN[c][s],
                                      I=I[c][s], Bmid=Bmid[c][s], first_rate=first[c][s],
                                      total_rate=tot[c],
                                      P_k=info["Pck"][c][s] if c < R else None))
        d["channels"].append(dict(L=L[c][n], P_b=Pb[c][n], S=S[c][n], O=O[c], total_rate=lam[c],
                                  P_k=info["Pck"][c][n] if c < R else None))
        if c < R:
            d["S_k"] = info["Sck"][c][n]
            d["dmp"] = dmp_cube(k.deadlines[c], n, P, M[c], m[c], Pb[c], info["Pck"][c], info["Sck"][c], k.b)
        out["classes"].append(d)
    return out


def dmp_cube(deadlines, n, P, M, m, Pb, pk, sk, b):
    if not deadlines:
        return []
    K = len(pk[n]) - 1
    if not feasible(K, M, b):
        return [None if not isinstance(D, dict) else {"hops": D["hops"], "dmp": [None] * len(D["deadlines"])}
                for D in deadlines]
    pmf = [channel_pmf(M, m, Pb[s], pk[s], sk[s], s == n) for s in range(n + 1)]

    @lru_cache(None)
    def paths_pmf(h):
        res = []
        for path in itertools.combinations(range(n), h):
            p = pmf[n]
            for s in path:
                p = np.convolve(p, pmf[s])
            res.append(p)
        return res

    def one(h, D):
        if D < P - 1 + P * h:
            return 1.0
        vals = []
        for p in paths_pmf(h):
            limit = D - (P - 1 + P * h) + TOL
            ok = float(sum(p[v] for v in range(len(p)) if v <= limit))
            vals.append(1 - ok)                                      # (20)-(22)
        return sum(vals) / len(vals)                                 # R11

    out = []
    for D in deadlines:
        if isinstance(D, dict):
            out.append({"hops": D["hops"], "dmp": [one(D["hops"], x) for x in D["deadlines"]]})
        else:
            out.append(sum(Pk(n, h) * one(h, D) for h in range(1, n + 1)))
    return out


def clean(o):
    if isinstance(o, dict):
        return {a: clean(b) for a, b in o.items()}
    if isinstance(o, (list, tuple)):
        return [clean(v) for v in o]
    if isinstance(o, (np.floating, float)):
        o = float(o)
        return o if math.isfinite(o) else None
    if isinstance(o, np.integer):
        return int(o)
    return o


def solve(scenario, **kw):
    """Joint fixed point over all classes.  No equation of a real-time class contains a
    best-effort quantity, so when the joint iteration stops short of 1e-13 because of
    the best-effort class, the real-time classes are solved without it and only the
    best-effort class is reported as null (R6: "for that class only")."""
    f = solve_router if scenario["topology"] == "router" else solve_cube
    out = f(scenario, **kw)
    be = scenario["classes"][-1]["kind"] == "best-effort"
    if out["status"] != "converged" and be and len(scenario["classes"]) > 1:
        rt = dict(scenario, classes=scenario["classes"][:-1])
        out2 = f(rt, **kw)
        c = scenario["classes"][-1]
        g, L = c["rate"], out["classes"][-1]["network_latency"]
        null = dict(name=c["name"], kind=c["kind"], network_latency=None, waiting=None,
                    total=None, S=None, P_b=None, saturated=True,
                    reason="no fixed point of the best-effort class found: " + out["status"]
                           + ", residual %.3g" % out["residual"])
        out2["classes"].append(null)
        out2["joint"] = dict(status=out["status"], iterations=out["iterations"], residual=out["residual"],
                             best_effort_last=dict(network_latency=L, gL=None if L is None else g * L))
        out = out2
    return clean(out)


if __name__ == "__main__":
    with open(sys.argv[1]) as f:
        print(json.dumps(solve(json.load(f)), indent=1))
