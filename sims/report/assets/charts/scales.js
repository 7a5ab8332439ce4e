// From values to pixels: linear axes, logarithmic ones, and shares in nines (90 %, 99 %, 99.9 %, each as far as the last).
(() => {
  "use strict";
  const NINES = 4; // a share closer to 1 than this many nines is not told apart from 1

  const forms = {
    linear: { to: (value) => value, from: (value) => value },
    log: { to: Math.log10, from: (value) => 10 ** value },
    nines: {
      to: (share) => -Math.log10(Math.max(1 - share, 10 ** -NINES)),
      from: (value) => 1 - 10 ** -value,
    },
  };

  const round = (value, digits = 4) => {
    if (value === null || value === undefined || !Number.isFinite(value)) return "–";
    return Number(value.toPrecision(digits)).toLocaleString("en", { maximumSignificantDigits: digits });
  };

  // About `count` round values between two; no fractions where `whole`.
  const steps = (low, high, count, whole) => {
    const rough = (high - low) / Math.max(count, 1);
    const power = 10 ** Math.floor(Math.log10(rough));
    let step = [1, 2, 2.5, 5, 10].map((k) => k * power).find((k) => k >= rough * 0.999) ?? 10 * power;
    if (whole) step = Math.max(1, Math.ceil(step));
    const first = Math.ceil(low / step - 1e-9);
    return Array.from({ length: Math.max(0, Math.floor(high / step + 1e-9) - first + 1) }, (_, k) => (first + k) * step);
  };

  const powers = (low, high) => {
    const [from, to] = [Math.ceil(Math.log10(low) - 1e-9), Math.floor(Math.log10(high) + 1e-9)];
    const whole = Array.from({ length: Math.max(0, to - from + 1) }, (_, k) => 10 ** (from + k));
    if (whole.length > 2) return whole.map((value) => [value, round(value)]);
    // Less than two decades: in between, too.
    const found = [];
    for (let power = from - 1; power <= to + 1; power++) {
      for (const k of [1, 2, 5]) if (k * 10 ** power >= low * 0.999 && k * 10 ** power <= high * 1.001) found.push(k * 10 ** power);
    }
    return found.map((value) => [value, round(value)]);
  };

  const percent = (share) => `${Number((100 * share).toPrecision(6))} %`;
  const nines = (low, high) => {
    const found = [];
    for (const share of [0, 0.5, 0.8]) if (forms.nines.to(low) <= forms.nines.to(share) + 1e-9 && low < 0.85) found.push([share, percent(share)]);
    for (let k = 1; k <= NINES; k++) {
      const share = 1 - 10 ** -k;
      if (share >= low - 1e-12 && k <= forms.nines.to(high) + 1e-9) found.push([share, `${k === NINES ? "≥ " : ""}${percent(share)}`]);
    }
    return found;
  };

  // A function from values to pixels with `ticks` of [value, text], and `back` from pixels to values.
  const scale = (kind, [low, high], [from, to], { count = 6, whole = false } = {}) => {
    const { to: form, from: unform } = forms[kind];
    const [a, b] = [form(low), form(high)];
    const place = (value) => from + ((form(value) - a) / (b - a || 1)) * (to - from);
    const ticks =
      kind === "log" ? powers(low, high) : kind === "nines" ? nines(low, high) : steps(low, high, count, whole).map((value) => [value, round(value)]);
    const back = (pixel) => unform(a + ((pixel - from) / (to - from)) * (b - a));
    return Object.assign(place, { ticks, back, low, high });
  };

  globalThis.sub2sub = { ...globalThis.sub2sub, percent, rounded: round, scale };
})();
