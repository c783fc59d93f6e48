/** Quota units per US dollar. */
export const UNITS_PER_DOLLAR = 500_000;

/** `0.1%`, `38%`: no decimals if there are two digits before the point. */
export function percent(share: number): string {
  const value = share * 100;
  if (value === 0) return '0%';
  if (value < 0.1) return '< 0.1%';
  return `${value < 10 ? value.toFixed(1).replace(/\.0$/, '') : Math.round(value)}%`;
}

/** `38 ms`, `2.1 s`, `3 min`. */
export function duration(ms: number): string {
  if (ms < 0.95) return `${ms.toFixed(1).replace(/\.0$/, '')} ms`;
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1_000).toFixed(1).replace(/\.0$/, '')} s`;
  return `${Math.round(ms / 60_000)} min`;
}

const SHOWN_NAMES = 3;

/** The first of perhaps many names, and how many more there are. */
export function someOf(names: readonly string[]): string {
  const rest = names.length - SHOWN_NAMES;
  return names.slice(0, SHOWN_NAMES).join(', ') + (rest > 0 ? ` +${rest}` : '');
}
