// Counter-based draws: sub2sub/compiled/common/randomness.py once more, bit for bit, on 64-bit words as BigInt.
(() => {
  "use strict";
  const WORD = 0xffffffffffffffffn;
  const GOLDEN = 0x9e3779b97f4a7c15n;
  const M1 = 0xbf58476d1ce4e5b9n;
  const M2 = 0x94d049bb133111ebn;

  const mix = (word) => {
    let x = word & WORD;
    x = ((x ^ (x >> 30n)) * M1) & WORD;
    x = ((x ^ (x >> 27n)) * M2) & WORD;
    return x ^ (x >> 31n);
  };

  const cycleKey = (seed, stream, cycle) => {
    const key = mix(mix(seed + GOLDEN) ^ ((stream * GOLDEN) & WORD));
    return mix(key + BigInt(cycle) * GOLDEN);
  };

  const peerKey = (key, peer) => mix(key ^ ((BigInt(peer) * M1 + GOLDEN) & WORD));

  const draw = (key, k) => mix(key + (BigInt(k) + 1n) * GOLDEN);

  const below = (bits, n) => Number(((bits >> 32n) * BigInt(n)) >> 32n);

  const unit = (bits) => Number(bits >> 11n) / 2 ** 53;

  globalThis.sub2sub = { ...globalThis.sub2sub, mix, cycleKey, peerKey, draw, below, unit };
})();
