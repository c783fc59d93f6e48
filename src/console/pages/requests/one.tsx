import { seesAll } from '../../about.js';
import type { ReplyOf } from '../../api/call.js';
import { useRead } from '../../api/query.js';
import { duration, moment } from '../../lib/format.js';
import { lead } from '../../lib/lead.js';
import { CopyButton, Link } from '../../parts/buttons.js';
import { Facts } from '../../parts/facts.js';
import { ErrorNotice, Skeleton, messageOf } from '../../parts/notices.js';
import { Count, Moment, Money, State, style } from '../../parts/values.js';
import { faultWords, wp } from '../../words.js';
import { Verdict } from './verdict.js';

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
      <FactsOf request={data} full={full} />
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

function FactsOf({ request, full }: { readonly request: Own; readonly full: Full | undefined }) {
  const { requests: words } = wp();
  return (
    <section class="stack">
      <h3>{words.facts}</h3>
      <Facts
        of={[
          [words.id, <code>{request.request_id}</code>],
          [wp().kinds.model, request.model ?? '–'],
          [
            wp().kinds.key,
            request.token_id === null ? (
              '–'
            ) : (
              <Link to={`keys?open=${request.token_id}`}>{request.token_name}</Link>
            ),
          ],
          [
            wp().kinds.account,
            full?.user_id != null && (
              <Link to={`people?open=${full.user_id}`}>{full.username ?? `#${full.user_id}`}</Link>
            ),
          ],
          [words.documents, <Count value={request.documents} />],
          [words.tokens, <Count value={request.input_tokens} />],
          [words.units, <Count value={request.search_units} />],
          [words.cost, <Money units={request.quota} />],
          [words.address, full?.address],
          [words.node, full?.node],
        ]}
      />
    </section>
  );
}
