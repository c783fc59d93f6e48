import type { ComponentChildren } from 'preact';
import { age, count, dollars, moment, type Style } from '../lib/format.js';
import { settings } from '../settings.js';
import { useAtom } from '../state.js';
import { w } from '../words.js';

export function style(): Style {
  return settings.get();
}

export function Money({ units }: { readonly units: number }) {
  const inUnits = useAtom(settings).units;
  return (
    <span class="nowrap" title={`${count(units, style())} ${w().units}`}>
      {inUnits ? count(units, style()) : dollars(units)}
    </span>
  );
}

export function money(units: number): string {
  return settings.get().units ? `${count(units, style())} ${w().units}` : dollars(units);
}

export function Count({ value }: { readonly value: number }) {
  return <>{count(value, style())}</>;
}

/** How long ago, with the exact time as its title. */
export function Ago({ seconds }: { readonly seconds: number }) {
  if (seconds <= 0) return <span class="muted">{w().never}</span>;
  const date = new Date(seconds * 1000);
  return (
    <time
      class="nowrap"
      dateTime={date.toISOString()}
      title={`${moment(seconds, style())} (${date.toISOString()})`}
    >
      {age(seconds, Date.now() / 1000, style())}
    </time>
  );
}

/** A date and time, with UTC as its title. */
export function Moment({ seconds }: { readonly seconds: number }) {
  if (seconds <= 0) return <span class="muted">{w().never}</span>;
  const iso = new Date(seconds * 1000).toISOString();
  return (
    <time class="nowrap" dateTime={iso} title={iso}>
      {moment(seconds, style())}
    </time>
  );
}

const SIGNS = { ok: '●', off: '○', busy: '◐', warn: '▲', bad: '✕', hollow: '◦' } as const;
const SHADES = {
  ok: 'ok',
  off: 'muted',
  busy: 'warn',
  warn: 'warn',
  bad: 'bad',
  hollow: 'bad',
} as const;

/** A state: a sign and a word, so that colour alone never carries the meaning. */
export function State({
  sign,
  children,
}: {
  readonly sign: keyof typeof SIGNS;
  readonly children: ComponentChildren;
}) {
  return (
    <span class="state">
      <span class={`sign ${SHADES[sign]}`} aria-hidden="true">
        {SIGNS[sign]}
      </span>
      <span>{children}</span>
    </span>
  );
}

/** A small chart of a series, from zero to its maximum; the numbers are shown beside it. */
export function Bars({ values }: { readonly values: readonly number[] }) {
  const most = Math.max(1, ...values);
  return (
    <svg
      class="bars"
      viewBox={`0 0 ${values.length} 1`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {values.map((value, at) => (
        <rect key={at} x={at + 0.1} width={0.8} y={1 - value / most} height={value / most} />
      ))}
    </svg>
  );
}

export function Meter({ share, low = false }: { readonly share: number; readonly low?: boolean }) {
  const width = `${Math.max(0, Math.min(1, share)) * 100}%`;
  return (
    <span class={low ? 'meter low' : 'meter'} aria-hidden="true">
      <i style={{ width }} />
    </span>
  );
}
