import type { Attention } from './attention.js';
import { duration, percent } from './figures.js';

/** A finding in a sentence, without its full stop. */
export function attentionWords(thing: Attention): string {
  switch (thing.kind) {
    case 'requests_fail':
      return `${percent(thing.share)} of the admitted requests of the last ${lastMinutes(thing.minutes)} failed, since ${thing.since}`;
    case 'requests_failed':
      return `${percent(thing.share)} of the admitted requests failed from ${thing.since} to ${thing.until}; it has been over since then`;
    case 'outbox':
      return 'people may register, but mails go to the outbox folder';
    case 'channel_fails':
      return `${thing.name} fails: ${percent(thing.share)} of its attempts in the last minutes`;
    case 'tag_off':
      return `the tag ${thing.name} is switched off`;
    case 'models_dark':
      return `${counted(thing.count, 'model has', 'models have')} no live channel, so that requests get 503: ${thing.name}`;
    case 'slow':
      return `p95 is ${duration(thing.p95)}; in this hour yesterday it was ${duration(thing.before)}`;
    case 'keys_end':
      return `${counted(thing.count, 'key expires', 'keys expire')} within 3 days: ${thing.name}`;
    case 'runs_out':
      if (thing.hours <= 0) return `the ${thing.of} ${thing.name} has nothing left`;
      return `the ${thing.of} ${thing.name} will have nothing left in ${counted(Math.ceil(thing.hours), 'hour', 'hours')} at today’s rate`;
    case 'channel_unusable':
      return `${thing.name} cannot be used: ${thing.why}`;
    case 'node':
      return thing.standing === 'behind'
        ? `${thing.name} has an older version in force`
        : `${thing.name} has stopped reporting`;
    case 'settlements':
      return `${thing.name}: the store has not heard of ${counted(thing.count, 'settlement', 'settlements')}`;
  }
}

function lastMinutes(minutes: number): string {
  return minutes === 1 ? 'minute' : `${minutes} minutes`;
}

function counted(count: number, one: string, other: string): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? one : other}`;
}
