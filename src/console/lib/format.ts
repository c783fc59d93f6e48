import { UNITS_PER_DOLLAR } from '../../core/figures.js';

export { duration, percent, someOf } from '../../core/figures.js';

/** The format of numbers, money and times. Pure: language, time zone and current time are arguments. */
export interface Style {
  readonly language: 'en' | 'zh';
  readonly utc: boolean;
}

const SIGNIFICANT = 4;

/** Dollars to four significant digits, with cents: `$301.10`, `$0.90`, `$0.0002`. */
export function dollars(units: number): string {
  const amount = units / UNITS_PER_DOLLAR;
  if (amount === 0) return '$0';
  const size = Math.abs(amount);
  const sign = amount < 0 ? '−' : '';
  if (size >= 1) {
    const digits = size >= 100_000 ? 0 : 2;
    return `${sign}$${size.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })}`;
  }
  return `${sign}$${Number(size.toPrecision(SIGNIFICANT)).toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 12 })}`;
}

/** The units of an amount that was typed in dollars. */
export function unitsOf(dollars: string): number {
  return Math.round(Number(dollars) * UNITS_PER_DOLLAR);
}

export function count(value: number, { language }: Style): string {
  return value.toLocaleString(language === 'zh' ? 'zh-CN' : 'en-US');
}

export function moment(seconds: number, style: Style): string {
  return new Intl.DateTimeFormat(style.language === 'zh' ? 'zh-CN' : 'en-GB', {
    dateStyle: 'medium',
    timeStyle: 'medium',
    ...(style.utc ? { timeZone: 'UTC' } : {}),
  }).format(seconds * 1000);
}

export function clock(seconds: number, style: Style): string {
  return new Intl.DateTimeFormat('en-GB', {
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    ...(style.utc ? { timeZone: 'UTC' } : {}),
  }).format(seconds * 1000);
}

const AGES: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
];

/** `3 min ago`, `in 2 days`. */
export function age(seconds: number, nowSeconds: number, { language }: Style): string {
  const difference = seconds - nowSeconds;
  const [unit, length] = AGES.find(([, size]) => Math.abs(difference) >= size) ?? ['second', 1];
  const format = new Intl.RelativeTimeFormat(language === 'zh' ? 'zh-CN' : 'en-US', {
    numeric: 'auto',
    style: 'short',
  });
  return format.format(Math.trunc(difference / length), unit);
}

/** A number with four significant digits, as scores are shown. */
export function significant(value: number): string {
  if (value === 0) return '0';
  const size = Math.abs(value);
  const text =
    size >= 1e6 || size < 1e-4
      ? value.toExponential(SIGNIFICANT - 1)
      : size >= 1_000
        ? value.toFixed(0)
        : value.toPrecision(SIGNIFICANT);
  return text.replace('-', '−');
}
