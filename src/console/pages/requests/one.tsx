import { seesAll } from '../../about.js';
import type { ReplyOf } from '../../api/call.js';
import { useRead } from '../../api/query.js';
import { clock, duration, moment } from '../../lib/format.js';
import { lead } from '../../lib/lead.js';
import { sideOf, signOf, switchedOffAt } from '../../lib/verdict.js';
import { CopyButton, Link } from '../../parts/buttons.js';
import { ErrorNotice, Skeleton, messageOf } from '../../parts/notices.js';
import { Count, Moment, Money, State, style } from '../../parts/values.js';
import { faultWords, wp } from '../../words.js';

const MOMENTS = /\b\d{4}-\d\d-\d\dT[\d:.]+Z/g;

/** A request at its own address. */
export function RequestPage({ id }: { readonly id: string }) {
  return (
    <>
      <div class="head">
        <h1 class="wrap">{wp().requests.one}</h1>
        <Link to="requests">{wp().requests.toAll}</Link>
      </div>
      <div class="card">
        <OneRequest id={id} />
      </div>
    </>
  );
}

/** A moment as the API writes it, as the reader has times. */
function momentOf(iso: string): string {
  return moment(Date.parse(iso) / 1_000, style());
}

type Own = ReplyOf<'getOwnRequest'>;
type Full = ReplyOf<'getRequest'>;

/** Explains why: a verdict in sentences, what would help, what was tried, and the facts. */
export function OneRequest({ id }: { readonly id: string }) {
  const admin = seesAll();
  const { data, error, loading, again } = useRead(
    admin ? 'getRequest' : 'getOwnRequest',
    { params: { request_id: id } },
    { keep: false },
  );
  if (error?.status === 404) {
    return (
      <div class="empty">
        <strong>{wp().requests.notFound}</strong>
        <p class="wrap">{messageOf(error).replace(MOMENTS, momentOf)}</p>
        <code class="wrap">{id}</code>
      </div>
    );
  }
  if (error !== undefined) return <ErrorNotice error={error} onAgain={again} />;
  if (loading || data === undefined) return <Skeleton lines={6} />;
  const full = 'tried' in data ? data : undefined;
  return (
    <div class="stack wide">
      <Verdict request={data} full={full} />
      <Timeline request={data} full={full} />
      <Facts request={data} full={full} />
      <div class="row">
        <CopyButton text={id} label={wp().requests.copyId} />
        <CopyButton text={JSON.stringify(data, null, 2)} label={wp().requests.copyJson} />
        {data.token_name === null ? null : (
          <Link class="button" to={`requests?token_name=${encodeURIComponent(data.token_name)}`}>
            {wp().requests.sameKey}
          </Link>
        )}
        {full?.channel_id == null ? null : (
          <Link class="button" to={`requests?channel_id=${full.channel_id}`}>
            {wp().requests.sameChannel}
          </Link>
        )}
      </div>
    </div>
  );
}

function Verdict({ request, full }: { readonly request: Own; readonly full: Full | undefined }) {
  const { verdicts, verdictHelp, requests: words } = wp();
  const { outcome, status, message } = request;
  const why = (verdicts as Readonly<Record<string, string | undefined>>)[outcome];
  const help = (
    verdictHelp as Readonly<Record<string, { user: string; admin: string } | undefined>>
  )[outcome];
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
        {full !== undefined && (outcome === 'no_channel_available' || outcome === 'overloaded') ? (
          <Switches request={full} />
        ) : null}
        {message === null || outcome === 'ok' ? null : (
          <p class="wrap">
            <span class="muted">{lead(words.told)}</span>
            {message}
          </p>
        )}
        {help === undefined ? null : (
          <p>
            <strong>{lead(words.helps)}</strong>
            {full === undefined ? help.user : help.admin}
          </p>
        )}
        {outcome === 'ok' ? null : <p class="muted small">{words.sides[side]}</p>}
        {request.repeated === 0 ? null : <p class="muted">{words.repeated(request.repeated)}</p>}
      </div>
    </section>
  );
}

const DAY_S = 86_400;
const AROUND_S = 7 * DAY_S;

/** Which of the tags behind a model were off at that moment, who switched them off, and why. */
function Switches({ request }: { readonly request: Full }) {
  const model = request.model?.split('@')[0];
  const models = useRead('listChannelModels');
  const span = { start_timestamp: Math.max(0, request.created_at - AROUND_S), page_size: 100 };
  const off = useRead('listAudit', { query: { ...span, action: 'tag.disable' } });
  const on = useRead('listAudit', { query: { ...span, action: 'tag.enable' } });
  const { data: now } = useRead('listTags');
  const channels = models.data?.find(({ id }) => id === model)?.channels;
  if (channels === undefined || !off.data || !on.data || !now) return null;
  const tags = [...new Set(channels.flatMap(({ tag }) => tag ?? []))];
  const changes = [...off.data.items, ...on.data.items];
  const found = switchedOffAt(request.created_at, tags, changes, now);
  if (found.length === 0) return null;
  const { requests: words } = wp();
  const at = (seconds: number): string =>
    Math.abs(request.created_at - seconds) < DAY_S
      ? clock(seconds, style())
      : moment(seconds, style());
  return (
    <ul class="stack tight">
      {found.map(({ tag, since, by, reason, until }) => (
        <li key={tag}>
          {words.switchedOff(
            channels
              .filter((channel) => channel.tag === tag)
              .map(({ name }) => name)
              .join(', '),
            by,
            tag,
            at(since),
            reason,
          )}{' '}
          {until === undefined ? words.stillOff : words.onAgain(at(until))}{' '}
          <Link to={`tags?open=${encodeURIComponent(tag)}`}>{tag}</Link>
        </li>
      ))}
    </ul>
  );
}

function Timeline({ request, full }: { readonly request: Own; readonly full: Full | undefined }) {
  const { requests: words } = wp();
  const tried = full?.tried ?? [];
  const gatewayMs =
    request.upstream_ms === null ? undefined : request.duration_ms - request.upstream_ms;
  return (
    <section class="stack">
      <h3>{words.timeline}</h3>
      <ol class="stack tight">
        <li>
          <Moment seconds={request.created_at} /> {words.received}
          {request.kind === 'refused' ? ` · ${words.notAdmitted}` : ` · ${words.admittedThen}`}
        </li>
        {tried.map((attempt, index) => (
          <li key={index}>
            <State sign={attempt.outcome === 'ok' ? 'ok' : 'bad'}>
              {lead(words.attempt(index + 1))}
              <Link to={`channels?open=${attempt.channel_id}`}>
                {attempt.channel ?? `#${attempt.channel_id}`}
              </Link>{' '}
              <span class="muted">{attempt.provider}</span> {faultWords(attempt.outcome)}
              {attempt.status === null ? '' : ` ${attempt.status}`} ·{' '}
              {duration(attempt.duration_ms)}
            </State>
            {attempt.message === '' ? null : <p class="muted wrap">{attempt.message}</p>}
          </li>
        ))}
        {tried.length === 0 && full?.channel != null ? (
          <li>
            <State sign={request.outcome === 'ok' ? 'ok' : 'bad'}>
              {lead(words.attempt(1))}
              <Link to={`channels?open=${full.channel_id ?? ''}`}>{full.channel}</Link>
            </State>
          </li>
        ) : null}
        <li>
          {words.answered} {request.status} · {duration(request.duration_ms)}
          {gatewayMs === undefined || request.upstream_ms === null
            ? ''
            : words.shares(duration(request.upstream_ms), duration(Math.max(0, gatewayMs)))}
        </li>
      </ol>
    </section>
  );
}

function Facts({ request, full }: { readonly request: Own; readonly full: Full | undefined }) {
  const { requests: words } = wp();
  const facts: (readonly [string, preact.ComponentChildren])[] = [
    [words.id, <code>{request.request_id}</code>],
    [words.model, request.model ?? '–'],
    [
      words.key,
      request.token_id === null ? (
        '–'
      ) : (
        <Link to={`keys?open=${request.token_id}`}>{request.token_name}</Link>
      ),
    ],
    ...(full?.user_id == null
      ? []
      : ([
          [
            words.account,
            <Link to={`people?open=${full.user_id}`}>{full.username ?? `#${full.user_id}`}</Link>,
          ],
        ] as const)),
    [words.documents, <Count value={request.documents} />],
    [words.tokens, <Count value={request.input_tokens} />],
    [words.units, <Count value={request.search_units} />],
    [words.cost, <Money units={request.quota} />],
    ...(full?.address == null ? [] : ([[words.address, full.address]] as const)),
    ...(full?.node == null ? [] : ([[words.node, full.node]] as const)),
  ];
  return (
    <section class="stack">
      <h3>{words.facts}</h3>
      <dl class="facts">
        {facts.map(([name, value]) => [
          <dt key={name}>{name}</dt>,
          <dd key={`${name} is`}>{value}</dd>,
        ])}
      </dl>
    </section>
  );
}
