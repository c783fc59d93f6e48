import type { ReplyOf } from '../../api/call.js';
import { useRead } from '../../api/query.js';
import { clock, moment } from '../../lib/format.js';
import { lead } from '../../lib/lead.js';
import {
  sideOf,
  signOf,
  switchedOffAt,
  takenOutAt,
  type SwitchedOff,
  type TakenOut,
} from '../../lib/verdict.js';
import { Link } from '../../parts/buttons.js';
import { State, style } from '../../parts/values.js';
import { faultWords, wp } from '../../words.js';

type Own = ReplyOf<'getOwnRequest'>;
type Full = ReplyOf<'getRequest'>;
type Channels = ReplyOf<'listChannelModels'>[number]['channels'];

/** A verdict in sentences, and what would help. */
export function Verdict({
  request,
  full,
}: {
  readonly request: Own;
  readonly full: Full | undefined;
}) {
  const { verdicts, requests: words } = wp();
  const { outcome, status, message } = request;
  const why = (verdicts as Readonly<Record<string, string | undefined>>)[outcome];
  const isOut = outcome === 'no_channel_available' || outcome === 'overloaded';
  const causes = useCauses(request, full !== undefined && isOut);
  const side = sideOf(outcome);
  const bar = outcome === 'ok' ? 'ok-bar' : request.kind === 'refused' ? 'warn-bar' : 'bad-bar';
  return (
    <section class={`notice ${bar}`} aria-label={words.verdict}>
      <div class="stack">
        <h2>
          <State sign={signOf(outcome, request.kind === 'refused')}>
            {status} {outcome}
          </State>
        </h2>
        <p role="status">{why ?? message ?? outcome}</p>
        {causes && full && <Causes of={causes} request={full} />}
        {message === null || outcome === 'ok' ? null : (
          <p class="wrap">
            <span class="muted">{lead(words.told)}</span>
            {message}
          </p>
        )}
        <Help outcome={outcome} of={full === undefined ? 'user' : 'admin'} causes={causes} />
        {outcome === 'ok' ? null : <p class="muted small">{words.sides[side]}</p>}
        {request.repeated === 0 ? null : <p class="muted">{words.repeated(request.repeated)}</p>}
      </div>
    </section>
  );
}

/** What would help whoever reads it. */
function Help({
  outcome,
  of,
  causes,
}: {
  readonly outcome: string;
  readonly of: 'user' | 'admin';
  readonly causes: CausesOf | undefined;
}) {
  const { verdictHelp, requests: words } = wp();
  const all: Readonly<Record<string, string | { user: string; admin: string } | undefined>> =
    verdictHelp;
  const help = all[outcome];
  if (help === undefined) return null;
  const isTakenOut = causes !== undefined && causes.takenOut.length > 0;
  return (
    <p>
      <strong>{lead(words.helps)}</strong>
      {isTakenOut ? words.outHelps : typeof help === 'string' ? help : help[of]}
    </p>
  );
}

const DAY_S = 86_400;
const AROUND_S = 7 * DAY_S;

interface CausesOf {
  readonly channels: Channels;
  readonly switched: readonly SwitchedOff[];
  readonly takenOut: readonly TakenOut[];
}

/** Which of the tags and channels behind a model were off at that moment, by whom and why. */
function useCauses({ model, created_at: at }: Own, enabled: boolean): CausesOf | undefined {
  const models = useRead('listChannelModels', {}, { enabled });
  const span = { start_timestamp: Math.max(0, at - AROUND_S), page_size: 100 };
  const read = (action: string) =>
    useRead('listAudit', { query: { ...span, action } }, { enabled }).data?.items;
  const changes = ['tag.disable', 'tag.enable', 'channel.disable', 'channel.return'].map(read);
  const { data: now } = useRead('listTags', {}, { enabled });
  const channels = models.data?.find(({ id }) => id === model?.split('@')[0])?.channels;
  if (!enabled || channels === undefined || changes.includes(undefined) || !now) return undefined;
  const audit = changes.flatMap((items) => items ?? []);
  const tags = [...new Set(channels.flatMap(({ tag }) => tag ?? []))];
  return {
    channels,
    switched: switchedOffAt(at, tags, audit, now),
    takenOut: takenOutAt(at, channels, audit),
  };
}

function Causes({
  of: { channels, switched, takenOut },
  request,
}: {
  readonly of: CausesOf;
  readonly request: Full;
}) {
  if (switched.length + takenOut.length === 0) return null;
  const { requests: words } = wp();
  const at = (seconds: number): string =>
    Math.abs(request.created_at - seconds) < DAY_S
      ? clock(seconds, style())
      : moment(seconds, style());
  const namesOf = (tag: string): string =>
    channels
      .filter((channel) => channel.tag === tag)
      .map(({ name }) => name)
      .join(', ');
  return (
    <ul class="stack tight">
      {switched.map(({ tag, since, by, reason, until }) => (
        <li key={tag}>
          {words.switchedOff(namesOf(tag), by, tag, at(since), reason)}{' '}
          {until === undefined ? words.stillOff : words.onAgain(at(until))}{' '}
          <Link to={`tags?open=${encodeURIComponent(tag)}`}>{tag}</Link>
        </li>
      ))}
      {takenOut.map(({ id, since, because, message, until }) => {
        const name = channels.find((channel) => channel.id === id)?.name ?? `#${id}`;
        return (
          <li key={id}>
            {since === undefined
              ? words.longOut(name)
              : words.takenOut(name, at(since), faultWords(because), message)}{' '}
            {until === undefined ? words.stillOut : words.backAgain(at(until))}{' '}
            <Link to={`channels?open=${id}`}>{name}</Link>
          </li>
        );
      })}
    </ul>
  );
}
