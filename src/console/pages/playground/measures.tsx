import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { ndcg, reciprocalRank, trecOrder } from '../../../core/evaluation.js';
import { compared, type Comparison } from '../../lib/compare.js';
import { duration, significant } from '../../lib/format.js';
import { spreadOf, stabilityOf } from '../../lib/runs.js';
import { Segments } from '../../parts/fields.js';
import { NumberTable } from '../../parts/number-table.js';
import { Money, money } from '../../parts/values.js';
import { wp } from '../../words.js';
import type { Labels } from './inputs.js';
import type { RankedLane } from './use-runs.js';

/** A table with one row per lane. */
export function Measures({
  title,
  heads,
  rows,
  beside,
  children,
}: {
  readonly title: string;
  readonly heads: readonly string[];
  readonly rows: readonly {
    readonly name: string;
    readonly cells: readonly ComponentChildren[];
  }[];
  readonly beside?: ComponentChildren;
  readonly children?: ComponentChildren;
}) {
  return (
    <section class="card stack measures">
      <div class="row apart">
        <h2>{title}</h2>
        {beside}
      </div>
      <NumberTable label={title} names={[wp().playground.lane]} heads={heads}>
        <tbody>
          {rows.map(({ name, cells }) => (
            <tr key={name}>
              <th scope="row" title={name}>
                {name}
              </th>
              {cells.map((cell, at) => (
                <td key={heads[at]} class="num">
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </NumberTable>
      {children}
    </section>
  );
}

type Kind = 'tau' | 'rbo' | 'top3' | 'top10';

const KINDS: Readonly<Record<Kind, string>> = {
  tau: 'tau-b',
  rbo: 'RBO',
  top3: '@3',
  top10: '@10',
};

interface LanesProps {
  readonly lanes: readonly RankedLane[];
}

/** Each lane against each other, by one measure. */
export function Agreement({ lanes }: LanesProps) {
  const [kind, setKind] = useState<Kind>('tau');
  const words = wp().playground;
  return (
    <Measures
      title={words.agreement}
      heads={lanes.map(({ name }) => name)}
      rows={lanes.map((row) => ({
        name: row.name,
        cells: lanes.map((column) =>
          row === column ? '–' : fixed(compared(row.reply.results, column.reply.results)[kind]),
        ),
      }))}
      beside={
        <Segments
          label={words.agreement}
          value={kind}
          choices={(Object.keys(KINDS) as Kind[]).map((value) => ({ value, label: KINDS[value] }))}
          onChange={setKind}
        />
      }
    >
      <p class="muted small">{words.agreementHelp[kind]}</p>
    </Measures>
  );
}

function fixed(value: number | undefined): string {
  return value === undefined ? '–' : value.toFixed(2).replace('-', '−');
}

/** Each other lane against the reference, in numbers and in words. */
export function Against({ lanes, reference }: LanesProps & { readonly reference: RankedLane }) {
  const words = wp().playground;
  const cellsOf = ({ tau, rbo, top3, top10, sameFirst, says }: Comparison): string[] => [
    ...[fixed(tau), fixed(rbo), fixed(top3), fixed(top10)],
    ...[sameFirst ? wp().channels.yes : wp().channels.no, words.says[says]],
  ];
  return (
    <Measures
      title={words.against(reference.name)}
      heads={[...Object.values(KINDS), words.sameFirst, words.agreement]}
      rows={lanes
        .filter((lane) => lane !== reference)
        .map(({ name, reply }) => ({
          name,
          cells: cellsOf(compared(reference.reply.results, reply.results)),
        }))}
    />
  );
}

/** How good each order is according to the labels; a document without a label counts as not relevant. */
export function Quality({ lanes, labels }: LanesProps & { readonly labels: Labels }) {
  const words = wp().playground;
  const told = (value: number | undefined): string => value?.toFixed(3) ?? '–';
  const [first] = lanes;
  const unlabelled = (first?.documents ?? []).filter((text) => !labels.has(text)).length;
  return (
    <Measures
      title={words.quality}
      heads={['nDCG@10', 'MRR', 'P@1']}
      rows={lanes.map(({ name, reply, documents }) => {
        const relevance = documents.map((text) => labels.get(text) ?? 0);
        const order = trecOrder(
          reply.results.map(({ index, relevance_score: score }) => ({ index, score })),
        );
        const isFirst = (relevance[order[0] ?? -1] ?? 0) > 0;
        return {
          name,
          cells: [
            told(ndcg(order, relevance, 10)),
            told(reciprocalRank(order, relevance)),
            isFirst ? '1' : '0',
          ],
        };
      })}
    >
      {unlabelled === 0 ? null : <p class="muted small">{words.unlabelled(unlabelled)}</p>}
    </Measures>
  );
}

/** How long each lane takes and what it costs; for several runs the median, the slow end, and whether the runs agree. */
export function Costs({ lanes }: LanesProps) {
  const words = wp().playground;
  const hasUnits = lanes.some(({ reply }) => reply.usage.search_units > 0);
  return (
    <Measures
      title={words.costs}
      heads={[
        ...['p50', 'p95', words.range, words.upstream, words.gateway, words.stable],
        ...(hasUnits ? [wp().requests.units] : []),
        ...[wp().requests.cost, words.perThousand],
      ]}
      rows={lanes.map(({ name, replies, reply }) => {
        const total = spreadOf(replies.map(({ timing }) => timing.total_ms));
        const upstream = spreadOf(replies.map(({ timing }) => timing.upstream_ms));
        const own = spreadOf(replies.map(({ timing }) => timing.total_ms - timing.upstream_ms));
        const { sameOrder, scoreSpan } = stabilityOf(replies.map(({ results }) => results));
        return {
          name,
          cells: [
            duration(total.p50),
            duration(total.p95),
            `${duration(total.least)} – ${duration(total.most)}`,
            duration(upstream.p50),
            duration(own.p50),
            <span key="stable" title={words.scoreSpan(significant(scoreSpan))}>
              {words.stableOf(sameOrder, replies.length)}
            </span>,
            ...(hasUnits ? [reply.usage.search_units] : []),
            <Money key="cost" units={reply.quota} />,
            money(reply.quota * 1_000),
          ],
        };
      })}
    />
  );
}
