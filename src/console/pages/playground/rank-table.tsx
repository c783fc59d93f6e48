import { significant } from '../../lib/format.js';
import { Link } from '../../parts/buttons.js';
import { Menu } from '../../parts/menu.js';
import { wp } from '../../words.js';
import { LaneState, Warnings, type LanesShown, type ShownLane } from './rankings.js';
import type { Ranked } from './use-runs.js';

/** More lanes than fit beside each other: a row for each document in the order of the reference, with its place and score in every lane. */
export function RankTable({ lanes, reference, most, onOpen }: LanesShown) {
  const words = wp().playground;
  const columns = lanes.map((shown) => ({ ...shown, places: placesOf(replyOf(shown)) }));
  const first = columns.find(({ key }) => key === reference);
  const texts = lanes.flatMap(({ lane }) => (lane.state === 'ranked' ? [lane.documents] : []))[0];
  const rows = replyOf(first)?.results.slice(0, most) ?? [];
  return (
    <div class="tablebox" role="region" aria-label={words.lanes} tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">{words.documentColumn}</th>
            {columns.map(({ key, name, lane, items }) => (
              <th key={key} scope="col" class="num">
                <span title={name}>{name}</span> <Warnings lane={lane} />{' '}
                <Menu label={words.laneMenu(name)} items={items}>
                  ⋯
                </Menu>
                <div class="small muted">
                  {key === reference ? `${words.reference} · ` : ''}
                  {lane.state === 'failed' && lane.error.requestId !== undefined ? (
                    <Link to={`requests/${encodeURIComponent(lane.error.requestId)}`}>
                      {lane.error.code}
                    </Link>
                  ) : (
                    <LaneState lane={lane} />
                  )}
                </div>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ index }) => (
            <tr key={index} class="item">
              <th scope="row" class="clip narrow">
                <button type="button" class="button quiet" onClick={() => onOpen(index)}>
                  {texts?.[index]?.slice(0, SHOWN)}
                </button>
              </th>
              {columns.map(({ key, places }) => (
                <td key={key} class="num">
                  <Place place={places.get(index)} of={first?.places.get(index)?.rank} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const SHOWN = 80;

interface PlaceOf {
  readonly rank: number;
  readonly score: number;
}

function Place({
  place,
  of,
}: {
  readonly place: PlaceOf | undefined;
  readonly of?: number | undefined;
}) {
  if (place === undefined) return <span class="muted">–</span>;
  const change = (of ?? place.rank) - place.rank;
  return (
    <>
      <strong>{place.rank}</strong>{' '}
      <span class="small muted">
        {change === 0 ? '' : `${change > 0 ? '▲' : '▼'}${Math.abs(change)} `}
        {significant(place.score)}
      </span>
    </>
  );
}

function replyOf(shown: Pick<ShownLane, 'lane'> | undefined): Ranked | undefined {
  return shown?.lane.state === 'ranked' ? shown.lane.reply : undefined;
}

function placesOf(reply: Ranked | undefined): ReadonlyMap<number, PlaceOf> {
  return new Map(
    reply?.results.map(({ index, relevance_score: score }, at) => [index, { rank: at + 1, score }]),
  );
}
