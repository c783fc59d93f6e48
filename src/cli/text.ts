import { dollars } from '../core/quota.js';
import { NEVER_EXPIRES } from '../core/token.js';
import type { InForceWire } from '../shapes/in-force.js';

/** Strangers choose some texts, such as what their browser calls itself: none of them may steer the terminal. */
export function withoutControls(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029\p{Bidi_Control}]/gu, (control) => {
    return `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** Facts, one per line. */
export function facts(entries: readonly (readonly [string, string])[]): string {
  const width = Math.max(...entries.map(([name]) => name.length));
  return entries
    .map(([name, value]) => `${name.padEnd(width)}  ${withoutControls(value)}`)
    .join('\n');
}

/** An amount of quota, with its value in dollars. */
export function amount(units: number): string {
  return `${units} (${dollars(units)})`;
}

export function moment(seconds: number): string {
  return seconds === NEVER_EXPIRES
    ? 'never'
    : new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');
}

export function names(list: readonly string[], otherwise: string): string {
  return list.length === 0 ? otherwise : list.join(', ');
}

/** A count with its noun, in the singular or the plural. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** How a change came into force, for people. */
export function inForceText({ in_force: state, nodes, waited_ms: waitedMs }: InForceWire): string {
  const { confirmed, total, late } = nodes;
  switch (state) {
    case 'confirmed':
      return `In force on ${confirmed} of ${counted(total, 'gateway')} after ${Math.round(waitedMs)} ms.`;
    case 'bound_passed':
      return total === 0
        ? 'In force: the store could not tell which gateways have it, but the time after which none acts on the previous state has passed.'
        : `In force: ${confirmed} of ${counted(total, 'gateway')} confirmed it, not ${late.join(', ')}; the ${Math.round(waitedMs)} ms after which none acts on the previous state have passed.`;
    case 'no_gateway':
      return 'No gateway is running; it takes effect when one starts.';
  }
}
