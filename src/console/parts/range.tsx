import { moment } from '../lib/format.js';
import { spanBeside } from '../lib/spans.js';
import { setQuery, useRoute } from '../router.js';
import { settings } from '../settings.js';
import { w, wp } from '../words.js';
import { Button, Chip } from './buttons.js';
import { style } from './values.js';
import { isTyping, usePageKeys } from './keys.js';

export interface OwnRange {
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
}

/** What else of an address ends with a range. */
export const CLEARED = { from: '', to: '', p: '', before: '' };

/** Another range than those of the buttons, from the address: `from` and `to` in unix seconds. */
export function useOwnRange(): OwnRange | undefined {
  const { query } = useRoute();
  const [start, end] = [Number(query.get('from') ?? NaN), Number(query.get('to') ?? NaN)];
  const isRange = Number.isSafeInteger(start) && Number.isSafeInteger(end) && start < end;
  return isRange ? { start, end } : undefined;
}

export function pickRange(start: number, end: number): void {
  setQuery({ from: Math.floor(start), to: Math.ceil(end), span: '', p: '', before: '' });
}

/** What a button for one of the usual ranges sets: an own range ends with it. */
export function withoutOwnRange(span: string): Readonly<Record<string, string>> {
  return { ...CLEARED, span };
}

/** Moves the range that is shown to the one beside it, not beyond now. */
function move(range: OwnRange, steps: -1 | 1): void {
  const next = spanBeside(range, steps, Math.ceil(Date.now() / 1_000));
  if (next.end !== range.end) pickRange(next.start, next.end);
}

/** The range that is shown, if it is not one of the usual ones, and the ways to an earlier and a later one: also `[` and `]`. */
export function RangeSteps({ shown }: { readonly shown: OwnRange }) {
  const own = useOwnRange();
  usePageKeys((event) => {
    const inDialog = (event.target as Element).closest('dialog') !== null;
    if (!settings.get().letterKeys || inDialog || isTyping(event) || event.ctrlKey || event.metaKey)
      return;
    if (event.key === '[') move(shown, -1);
    if (event.key === ']') move(shown, 1);
  });
  const words = wp().range;
  return (
    <span class="row">
      <Button
        kind="icon"
        label={words.earlier}
        title={`${words.earlier} [`}
        onClick={() => move(shown, -1)}
      >
        ‹
      </Button>
      {own === undefined ? null : (
        <Chip onRemove={() => setQuery(CLEARED)} title={w().clearFilters}>
          {moment(own.start, style())} – {moment(own.end, style())}
        </Chip>
      )}
      <Button
        kind="icon"
        label={words.later}
        title={`${words.later} ]`}
        disabled={own === undefined}
        onClick={() => move(shown, 1)}
      >
        ›
      </Button>
    </span>
  );
}
