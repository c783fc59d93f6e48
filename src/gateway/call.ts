import { documentsOf, type Documents } from '../bytes/index.js';
import type { RankedRow } from '../core/rerank.js';
import type { UpstreamCall } from '../providers/provider.js';
import type { Job, Offer } from './rank.js';

/**
 * The request in the channel's terms: its name for the model, no images if it takes none, and its handling of blank
 * documents. If they must not be sent, they are left out, and `restore` appends them to the ranking with its lowest score.
 */
export function prepareCall(
  offer: Offer,
  job: Job,
): { call: UpstreamCall; restore: (rows: RankedRow[]) => RankedRow[] } {
  const { blanks } = offer.route.provider.profile;
  const isLeftOut = job.documents.images !== 'none' && !offer.room.images;
  const all = isLeftOut ? job.documents.pick(undefined, { images: 'none' }) : job.documents;
  const whole = (documents: Documents) => ({
    call: upstreamCall(offer, job, documents, job.topN),
    restore: unchanged,
  });
  if (blanks === 'accepted') return whole(all);
  const blank = all.blanks;
  if (blank.length === 0) return whole(all);
  if (blanks === 'as_space') {
    return whole(all.pick(undefined, { texts: new Map(blank.map((index) => [index, ' '])) }));
  }
  const kept = allBut(blank, all.count);
  if (kept.length === 0) {
    // Only blank documents: a placeholder keeps the request valid, and all of them return in their original order.
    return whole(documentsOf(blank.map(() => ({ text: '-', source: '-' }))));
  }
  return {
    call: upstreamCall(offer, job, all.pick(kept), Math.min(job.topN, kept.length)),
    restore: (rows) => {
      const lowest = rows.at(-1)?.score ?? 0;
      return [
        ...rows.map(({ index, score }) => ({ index: kept[index] ?? index, score })),
        ...blank.map((index) => ({ index, score: lowest })),
      ].slice(0, job.topN);
    },
  };
}

/** The indexes of so many documents, without those `left` out, which are in order. */
function allBut(left: readonly number[], count: number): readonly number[] {
  const kept: number[] = [];
  let next = 0;
  for (let index = 0; index < count; index += 1) {
    if (index === left[next]) next += 1;
    else kept.push(index);
  }
  return kept;
}

function unchanged(rows: RankedRow[]): RankedRow[] {
  return rows;
}

function upstreamCall(
  { upstreamModel, route }: Offer,
  { query, options }: Job,
  documents: Documents,
  topN: number,
): UpstreamCall {
  return {
    model: upstreamModel,
    query,
    documents,
    topN,
    options,
    settings: route.endpoint.settings,
  };
}
