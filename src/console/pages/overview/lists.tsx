import type { ReplyOf } from '../../api/call.js';
import { duration, percent } from '../../lib/format.js';
import { signOfChannel } from '../../lib/verdict.js';
import { Link } from '../../parts/buttons.js';
import { NumberTable } from '../../parts/number-table.js';
import { Ago, Count, Money, State } from '../../parts/values.js';
import { pauseWords, useTroubles, type TroubleOf } from '../../parts/troubles.js';
import { w, wp } from '../../words.js';

type Overview = ReplyOf<'getOverview'>;
type Traffic = Overview['channels'][number];
type Nodes = Overview['nodes']['nodes'];

const OTHERS = 'others';
const SHOWN_TAGS = 6;
const SHOWN_NODES = 12;
const TOP = 5;
const NODE_SIGNS = { current: 'ok', behind: 'bad', silent: 'bad' } as const;

/** Requests a second, with as many digits as are meaningful. */
export function rate(perSecond: number): string {
  return perSecond >= 100
    ? perSecond.toFixed(0)
    : perSecond >= 1
      ? perSecond.toFixed(1)
      : perSecond.toPrecision(2);
}

export function trafficName({ name, key }: Pick<Traffic, 'name' | 'key'>): string {
  if (name !== '') return name;
  return key === '' ? '–' : key === OTHERS ? wp().overview.others : key;
}

export function Channels({
  channels,
  nodes,
  seconds,
}: {
  readonly channels: readonly Traffic[];
  readonly nodes: Nodes;
  readonly seconds: number;
}) {
  const parts = channels.toSorted(
    (a, b) =>
      Number(a.key === OTHERS) - Number(b.key === OTHERS) ||
      failedShare(b) - failedShare(a) ||
      b.total.requests - a.total.requests,
  );
  const troubleOf = useTroubles();
  const words = wp().overview;
  if (parts.length === 0) return null;
  const heads = [
    ...[words.rate, wp().requests.failed, 'p50', 'p95', 'p99'],
    ...[wp().nodes.inFlight, w().home.spent],
  ];
  return (
    <NumberTable label={w().nav.channels} names={[words.channel]} heads={heads}>
      <tbody>
        {parts.map((part) => (
          <ChannelRow key={part.key} {...{ part, nodes, seconds, troubleOf }} />
        ))}
      </tbody>
    </NumberTable>
  );
}

function ChannelRow({
  part,
  nodes,
  seconds,
  troubleOf,
}: {
  readonly part: Traffic;
  readonly nodes: Nodes;
  readonly seconds: number;
  readonly troubleOf: TroubleOf;
}) {
  const { total, key, because } = part;
  const trouble = troubleOf({ id: Number(key), name: part.name });
  const ms = (value: number | null): string => (value === null ? '–' : duration(value));
  const share = failedShare(part);
  const inFlight = nodes
    .flatMap(({ busy }) => busy)
    .filter(({ id }) => String(id) === key)
    .reduce((sum, { in_flight: some }) => sum + some, 0);
  return (
    <tr>
      <td>
        {part.name !== '' ? (
          <State sign={signOfChannel({ live: because === null, because }, trouble)}>
            <Link to={`channels?open=${key}`}>{part.name}</Link>
          </State>
        ) : key === OTHERS ? (
          <Link to="channels">{trafficName(part)}</Link>
        ) : (
          trafficName(part)
        )}
        {trouble.pauses.length === 0 ? null : (
          <div class="small muted wrap">{trouble.pauses.map(pauseWords).join(' · ')}</div>
        )}
      </td>
      <td class="num">{rate(total.requests / seconds)}</td>
      <td class="num">{total.requests === 0 ? '–' : percent(share)}</td>
      <td class="num">{ms(total.p50)}</td>
      <td class="num">{ms(total.p95)}</td>
      <td class="num">{ms(total.p99)}</td>
      <td class="num">{key === OTHERS ? '–' : <Count value={inFlight} />}</td>
      <td class="num">
        <Money units={total.quota} />
      </td>
    </tr>
  );
}

function failedShare({ total }: Traffic): number {
  return total.requests === 0 ? 0 : total.failed / total.requests;
}

export function Switches({
  tags,
  nodes,
}: {
  readonly tags: ReplyOf<'listTags'>;
  readonly nodes: Nodes;
}) {
  const urgent = tags.toSorted((a, b) => urgency(b) - urgency(a)).slice(0, SHOWN_TAGS);
  const late = nodes.toSorted((a, b) => standing(b) - standing(a)).slice(0, SHOWN_NODES);
  return (
    <section class="card stack">
      <h2>
        <Link to="tags">{w().nav.tags}</Link>
      </h2>
      <ul class="stack tight">
        {urgent.map((entry) => (
          <li key={entry.tag} class="row">
            <State sign={entry.disabled ? 'off' : entry.live_count === 0 ? 'warn' : 'ok'}>
              <Link to={`tags?open=${encodeURIComponent(entry.tag)}`}>{entry.tag}</Link>
            </State>
            <span class="small muted">
              {wp().tags.liveOf(entry.live_count, entry.channel_count)}
            </span>
            {entry.disabled ? (
              <span class="small muted">
                {wp().tags.offSince} <Ago seconds={entry.changed_time} />
              </span>
            ) : null}
          </li>
        ))}
        {tags.length > SHOWN_TAGS ? (
          <li>
            <Link to="tags">{wp().overview.allTags(tags.length)}</Link>
          </li>
        ) : null}
      </ul>
      <h2>
        <Link to="nodes">{w().nav.nodes}</Link>
      </h2>
      <div class="row">
        {late.map(({ id, name, standing: sign }) => (
          <State key={id} sign={NODE_SIGNS[sign]}>
            {name}
          </State>
        ))}
        {nodes.length > SHOWN_NODES ? <Link to="nodes">+{nodes.length - SHOWN_NODES}</Link> : null}
      </div>
    </section>
  );
}

/** Those that are off come first, then those without a live channel. */
function urgency({ disabled, live_count: live }: ReplyOf<'listTags'>[number]): number {
  return disabled ? 2 : Number(live === 0);
}

function standing({ standing: state }: Nodes[number]): number {
  return Number(state !== 'current');
}

/** Who has spent most today. */
export function Spending({ today }: { readonly today: Overview['today'] | undefined }) {
  return (
    <section class="card stack">
      <h2>
        <Link to="spend">{wp().overview.today}</Link>
      </h2>
      {today?.rows.length === 0 ? <p class="muted">{wp().spend.none}</p> : null}
      <ul class="stack tight">
        {today?.rows.slice(0, TOP).map((row) => (
          <li key={row.user_id} class="row">
            <span class="grow clip">{row.username ?? `#${row.user_id ?? ''}`}</span>
            <span class="small muted">{wp().counts.requests(row.requests)}</span>
            <Money units={row.quota} />
          </li>
        ))}
      </ul>
    </section>
  );
}
