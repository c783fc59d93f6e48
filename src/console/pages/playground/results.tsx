import { useMemo, useState } from 'preact/hooks';
import type { Bars } from '../../lib/bars.js';
import { keyOf, MAX_LANES, SIDE_BY_SIDE, type LaneSpec } from '../../lib/lanes.js';
import { choicesOf } from '../../parts/choice.js';
import { Button } from '../../parts/buttons.js';
import { Check, Segments } from '../../parts/fields.js';
import type { MenuItem } from '../../parts/menu.js';
import { moved } from '../../parts/drag.js';
import { w, wp } from '../../words.js';
import { LaneDetails } from './details.js';
import { CopyLane, OneDocument } from './dialogs.js';
import { MAX_DOCUMENTS, type Labels } from './inputs.js';
import { Against, Agreement, Costs, Quality } from './measures.js';
import { Rankings } from './rankings.js';
import { RankTable } from './rank-table.js';
import type { Inputs } from './use-inputs.js';
import { isDone, type Lane, type RankedLane } from './use-runs.js';

export const FIRST_ROWS = 20;
const EMPTY: Lane = { state: 'idle' };

interface ResultsProps {
  readonly inputs: Inputs;
  readonly names: readonly string[];
  readonly lanes: Readonly<Record<string, Lane>>;
  /** Those of them that have a ranking. */
  readonly ranked: readonly RankedLane[];
  readonly all: boolean;
  readonly onAll: (all: boolean) => void;
}

/** The lanes, side by side or as a table, and how they compare. */
export function Results({ inputs, names, lanes, ranked, all, onAll }: ResultsProps) {
  const { specs, setLanes, labels, setLabels, ids } = inputs;
  const [reference, setReference] = useState<string>();
  const [bars, setBars] = useState<Bars>('raw');
  const [farOnly, setFarOnly] = useState(false);
  const [opened, setOpened] = useState<number>();
  const [copying, setCopying] = useState<LaneSpec>();
  const [detailed, setDetailed] = useState<LaneSpec>();
  const words = wp().playground;
  const compared = ranked.find(({ key }) => key === reference) ?? ranked[0];
  const laneOf = (spec: LaneSpec): Lane => lanes[keyOf(spec)] ?? EMPTY;
  const itemsOf = (spec: LaneSpec, at: number): readonly (MenuItem | undefined)[] => [
    specs.length < 2
      ? undefined
      : { label: words.makeReference, onClick: () => setReference(keyOf(spec)) },
    at === 0
      ? undefined
      : { label: words.moveLeft, onClick: () => setLanes(moved(specs, at, at - 1)) },
    at === specs.length - 1
      ? undefined
      : { label: words.moveRight, onClick: () => setLanes(moved(specs, at, at + 1)) },
    isDone(laneOf(spec)) ? { label: words.details, onClick: () => setDetailed(spec) } : undefined,
    specs.length >= MAX_LANES
      ? undefined
      : { label: words.copyLane, onClick: () => setCopying(spec) },
    { label: w().remove, onClick: () => setLanes(specs.filter((one) => one !== spec)) },
  ];
  const Shown = specs.length > SIDE_BY_SIDE ? RankTable : Rankings;
  // What is the same is not compared again: a thousand rows take their time.
  const rankings = useMemo(
    () => (
      <Shown
        lanes={specs.map((spec, at) => ({
          key: keyOf(spec),
          name: names[at] ?? '',
          lane: laneOf(spec),
          items: itemsOf(spec, at),
        }))}
        reference={compared?.key}
        bars={bars}
        farOnly={farOnly}
        most={all ? MAX_DOCUMENTS : FIRST_ROWS}
        onOpen={setOpened}
      />
    ),
    [specs, names, lanes, compared?.key, bars, farOnly, all],
  );
  const measures = useMemo(
    () => (ranked.length === 0 ? null : <Measures {...{ ranked, compared, labels }} />),
    [ranked, compared?.key, labels],
  );
  const text = ranked[0]?.documents[opened ?? -1] ?? '';
  return (
    <>
      {ranked.length === 0 ? null : (
        <Bar
          {...{ ranked, bars, setBars, farOnly, setFarOnly, all, onAll }}
          isTable={specs.length > SIDE_BY_SIDE}
        />
      )}
      {warningsOf(ranked).map(([warning, lanesWarned]) => (
        <p class="notice warn-bar small" key={warning}>
          {lanesWarned.join(', ')}: {warning}
        </p>
      ))}
      {rankings}
      {measures}
      {detailed === undefined ? null : (
        <LaneDetails
          name={names[specs.indexOf(detailed)] ?? detailed.model}
          lane={laneOf(detailed)}
          onClose={() => setDetailed(undefined)}
        />
      )}
      {copying === undefined ? null : (
        <CopyLane
          onClose={() => setCopying(undefined)}
          onCopy={(instruction) => {
            setLanes([...specs, { ...copying, instruction }]);
            setCopying(undefined);
          }}
        />
      )}
      {opened === undefined ? null : (
        <OneDocument
          index={opened}
          text={text}
          lanes={ranked}
          labels={labels}
          id={ids.get(text)}
          onLabels={setLabels}
          onClose={() => setOpened(undefined)}
        />
      )}
    </>
  );
}

interface BarProps {
  readonly ranked: readonly RankedLane[];
  readonly isTable: boolean;
  readonly bars: Bars;
  readonly setBars: (bars: Bars) => void;
  readonly farOnly: boolean;
  readonly setFarOnly: (farOnly: boolean) => void;
  readonly all: boolean;
  readonly onAll: (all: boolean) => void;
}

/** How the rankings are shown. */
function Bar({ ranked, isTable, bars, setBars, farOnly, setFarOnly, all, onAll }: BarProps) {
  const words = wp().playground;
  return (
    <div class="row">
      {isTable ? null : (
        <>
          <Segments
            label={words.bars}
            value={bars}
            choices={choicesOf(words.barKinds)}
            onChange={setBars}
          />
          <Check label={words.farOnly} checked={farOnly} onChange={setFarOnly} />
        </>
      )}
      {ranked.some(({ reply }) => reply.results.length > FIRST_ROWS) ? (
        <Button kind="quiet" onClick={() => onAll(!all)}>
          {all
            ? words.first(FIRST_ROWS)
            : words.all(Math.max(...ranked.map(({ reply }) => reply.results.length)))}
        </Button>
      ) : null}
      {ranked.length > 1 ? <span class="muted small">{words.notComparable}</span> : null}
    </div>
  );
}

/** How the rankings compare, and what they cost. */
function Measures({
  ranked,
  compared,
  labels,
}: Pick<ResultsProps, 'ranked'> & {
  readonly compared: RankedLane | undefined;
  readonly labels: Labels;
}) {
  return (
    <>
      {ranked.length > 1 && compared !== undefined ? (
        <Against lanes={ranked} reference={compared} />
      ) : null}
      <div class="halves">
        {labels.size > 0 ? <Quality lanes={ranked} labels={labels} /> : null}
        {ranked.length > 1 ? <Agreement lanes={ranked} /> : null}
      </div>
      <Costs lanes={ranked} />
    </>
  );
}

/** What the gateway warns of, with the lanes that it is about. */
function warningsOf(ranked: readonly RankedLane[]): [warning: string, lanes: readonly string[]][] {
  const found = new Map<string, readonly string[]>();
  for (const { name, reply } of ranked) {
    for (const warning of reply.warnings) {
      found.set(warning, [...(found.get(warning) ?? []), name]);
    }
  }
  return [...found];
}
