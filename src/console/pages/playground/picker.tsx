import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks';
import { isAdmin } from '../../about.js';
import type { ItemOf, ReplyOf } from '../../api/call.js';
import { useRead } from '../../api/query.js';
import { MAX_LANES, type LaneSpec } from '../../lib/lanes.js';
import { Button } from '../../parts/buttons.js';
import { priceText } from '../../parts/price.js';
import { w, wp } from '../../words.js';

type Model = ReplyOf<'listOwnModels'>[number];
type Channel = ItemOf<'searchChannels'>;

interface Option {
  readonly value: string;
  /** Whether it takes traffic; if so, its price or origin, and if not, why. */
  readonly label: string;
  readonly lane: LaneSpec;
}

const PAUSE_MS = 250;
const SHOWN = 20;

/** Adds a lane: a model by the name that callers use or, for admins, a channel and one of its models. */
export function LanePicker({ onAdd }: { readonly onAdd: (lane: LaneSpec) => void }) {
  const [typed, setTyped] = useState('');
  const [asked, setAsked] = useState('');
  const known = useRef(new Map<string, LaneSpec>());
  const list = useId();
  const admin = isAdmin();
  const models = useRead('listOwnModels');
  const channels = useRead(
    'searchChannels',
    { query: { keyword: asked, page_size: SHOWN } },
    { enabled: admin },
  );
  useEffect(() => {
    const timer = setTimeout(() => setAsked(typed.trim()), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  const options = [
    ...(models.data ?? []).map(modelOption),
    ...(channels.data?.items ?? []).flatMap(channelOptions),
  ];
  for (const { value, lane } of options) known.current.set(value, lane);
  const add = (lane: LaneSpec): void => {
    setTyped('');
    onAdd(lane);
  };
  const label = admin ? wp().playground.addChannel : wp().playground.addLane;
  return (
    <form
      class="row tight"
      onSubmit={(event) => {
        event.preventDefault();
        const name = typed.trim();
        if (name !== '') add(known.current.get(name) ?? { model: name });
      }}
    >
      <input
        class="input filter lane-picker"
        style={{ width: '15rem', maxWidth: '100%' }}
        aria-label={label}
        placeholder={label}
        list={list}
        value={typed}
        spellcheck={false}
        autocomplete="off"
        onInput={(event) => {
          const { value } = event.currentTarget;
          const lane = known.current.get(value);
          // A pick from the list is final; somebody who types may not have finished.
          if (lane !== undefined && isPicked(event)) add(lane);
          else setTyped(value);
        }}
      />
      <datalist id={list}>
        {options.map(({ value, label: more }) => (
          <option key={value} value={value} label={`${value} — ${more}`} />
        ))}
      </datalist>
      <Button type="submit" label={wp().playground.add} disabled={typed.trim() === ''}>
        +
      </Button>
    </form>
  );
}

function isPicked(event: Event): boolean {
  const kind = event instanceof InputEvent ? event.inputType : '';
  return kind === '' || kind === 'insertReplacementText';
}

function modelOption({ id, live, price }: Model): Option {
  const words = wp().playground;
  const label = live
    ? words.liveOption(priceText(price))
    : words.offOption(wp().channels.states.off ?? '');
  return { value: id, label, lane: { model: id } };
}

function channelOptions({ id, name, models, provider, tag, effective }: Channel): Option[] {
  const words = wp().playground;
  const { states } = wp().channels;
  const why = states[effective.because ?? 'off'] ?? '';
  const from = [provider, ...(tag === null ? [] : [tag])].join(', ');
  const label = effective.live ? words.liveOption(from) : words.offOption(`${why} · ${from}`);
  return Object.keys(models).map((model) => ({
    value: words.channelLane(model, `${name} #${id}`),
    label,
    lane: { model, channel: id },
  }));
}

/** The names of lanes; a channel appears under its current name. */
export function useLaneNames(lanes: readonly LaneSpec[]): readonly string[] {
  const names: string[] = [];
  for (let at = 0; at < MAX_LANES; at += 1) {
    const lane = lanes[at];
    const enabled = lane?.channel !== undefined && isAdmin();
    const { data } = useRead('getChannel', { params: { id: lane?.channel ?? 0 } }, { enabled });
    if (lane !== undefined) names.push(nameOf(lane, data));
  }
  // The same list as long as the names are the same: much of the page hangs on it.
  return useMemo(() => names, [JSON.stringify(names)]);
}

function nameOf(
  { model, channel, instruction }: LaneSpec,
  found: { readonly id: number; readonly name: string } | undefined,
): string {
  const words = wp().playground;
  const whole =
    channel === undefined
      ? model
      : words.channelLane(model, found?.id === channel ? found.name : words.unnamed(channel));
  return instruction === undefined ? whole : `${whole} (${instruction.slice(0, 24) || w().none})`;
}
