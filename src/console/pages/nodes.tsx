import type { ReplyOf } from '../api/call.js';
import { useRead } from '../api/query.js';
import { duration } from '../lib/format.js';
import { Link } from '../parts/buttons.js';
import { Empty, ErrorNotice, Skeleton } from '../parts/notices.js';
import { Ago, Count, State } from '../parts/values.js';
import { ListHead } from '../parts/list-head.js';
import { pauseWords } from '../parts/troubles.js';
import { Table } from '../parts/table.js';
import { w, wp } from '../words.js';

type Node = ReplyOf<'listNodes'>['nodes'][number];

const EVERY_MS = 5_000;
const SHOWN_CHANNELS = 8;
const SHOWN_BUSY = 3;
/** Digits of a build. */
const SHOWN_BUILD = 6;
const SIGNS = { current: 'ok', behind: 'bad', silent: 'bad' } as const;

/** Whether all gateways agree. */
export function Nodes() {
  const { data, error, loading, again } = useRead('listNodes', {}, { everyMs: EVERY_MS });
  const words = wp().nodes;
  const nodes = data?.nodes ?? [];
  const usual = mostCommon(nodes.map(editionOf));
  const hasBuilds = new Set(nodes.map(({ build }) => build)).size > 1;
  return (
    <>
      <ListHead title={w().nav.nodes} total={data?.nodes.length} />
      <p class="muted">{words.help}</p>
      <ErrorNotice error={error} onAgain={again} />
      {loading ? <Skeleton lines={4} /> : null}
      {data?.nodes.length === 0 ? (
        <div class="card">
          <Empty title={wp().inForce.noGateway} />
        </div>
      ) : null}
      {data === undefined || data.nodes.length === 0 ? null : (
        <>
          <Table
            label={w().nav.nodes}
            rows={data.nodes}
            idOf={({ id }) => id}
            columns={[
              {
                title: wp().requests.node,
                cell: ({ name, pid }) => (
                  <>
                    {name} {pid === null ? null : <span class="small muted">pid {pid}</span>}
                  </>
                ),
              },
              {
                title: words.standing,
                cell: ({ standing }) => (
                  <State sign={SIGNS[standing]}>{words.standings[standing]}</State>
                ),
              },
              {
                title: words.release,
                cell: (node) => {
                  const shown = (
                    <>
                      {node.release ?? '–'}
                      {hasBuilds ? (
                        <span class="small muted"> {node.build?.slice(0, SHOWN_BUILD)}</span>
                      ) : null}
                    </>
                  );
                  return editionOf(node) === usual ? (
                    shown
                  ) : (
                    <State sign="warn">
                      {shown} <span class="hidden">{words.otherRelease}</span>
                    </State>
                  );
                },
              },
              { title: words.up, minor: true, cell: ({ started_time: at }) => <Since at={at} /> },
              {
                title: words.reported,
                minor: true,
                cell: ({ reported_time: at }) => <Since at={at} />,
              },
              {
                title: words.inFlight,
                numeric: true,
                cell: ({ in_flight: some, max_in_flight: all, busy }) => (
                  <>
                    {some === null || all === null ? '–' : words.of(some, all)}
                    {busy.slice(0, SHOWN_BUSY).map(({ id, name, in_flight: count }) => (
                      <div key={id} class="small muted clip">
                        {name}: <Count value={count} />
                      </div>
                    ))}
                  </>
                ),
              },
              {
                title: words.settling,
                numeric: true,
                minor: true,
                cell: ({ pending_settlements: some }) => <Told value={some} />,
              },
              {
                title: words.faults,
                numeric: true,
                cell: ({ faults }) => <Told value={faults} />,
              },
              {
                title: words.channels,
                narrow: true,
                cell: ({ channels }) => <Resting channels={channels} />,
              },
            ]}
          />
          <p class="muted">{words.store(duration(data.store_ms))}</p>
        </>
      )}
    </>
  );
}

function Since({ at }: { readonly at: number | null }) {
  return at === null ? <>–</> : <Ago seconds={at} />;
}

function Told({ value }: { readonly value: number | null }) {
  return value === null ? <>–</> : <Count value={value} />;
}

function Resting({ channels }: Pick<Node, 'channels'>) {
  if (channels.length === 0) return <>–</>;
  return (
    <ul>
      {channels.slice(0, SHOWN_CHANNELS).map(({ id, name, until, why }) => (
        <li key={name}>
          {id === null ? name : <Link to={`channels?open=${id}`}>{name}</Link>}
          {pauseWords({ node: '', why, until })}
        </li>
      ))}
      {channels.length > SHOWN_CHANNELS ? (
        <li>
          <Link to="channels">+{channels.length - SHOWN_CHANNELS}</Link>
        </li>
      ) : null}
    </ul>
  );
}

/** What tells a gateway's program from another's. */
function editionOf({ release, build }: Node): string {
  return `${release ?? ''} ${build ?? ''}`;
}

function mostCommon<T>(values: readonly T[]): T | undefined {
  const counts = new Map<T, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0];
}
