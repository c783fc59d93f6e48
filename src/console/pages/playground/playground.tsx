import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { about } from '../../about.js';
import { save } from '../../api/call.js';
import { useRead } from '../../api/query.js';
import { aboutCost, aboutTokens } from '../../lib/bill.js';
import { draftOf, keepDraft } from '../../drafts.js';
import { csvOf } from '../../lib/csv.js';
import {
  documentsOfFile,
  documentsOfTable,
  documentsOfText,
  tableOf,
  textOfBytes,
  textOfDocuments,
  type DocumentsIn,
  type Table,
} from '../../lib/documents-in.js';
import { significant } from '../../lib/format.js';
import { marksOf } from '../../lib/highlight.js';
import {
  MAX_LANES,
  SIDE_BY_SIDE,
  bodyOf,
  keyOf,
  type LaneOptions,
  type LaneSpec,
} from '../../lib/lanes.js';
import {
  MAX_LINK,
  readShared,
  shareText,
  sharedOf,
  sharing,
  type Shared,
} from '../../lib/share.js';
import { EXAMPLE_BODY } from '../../lib/snippets.js';
import { Button, Check, Chip, Segments, TextField, copyText, money } from '../../parts/basic.js';
import { RequestCode } from '../../parts/code.js';
import { Dialog, Menu, type MenuItem } from '../../parts/dialog.js';
import { dragging, moved } from '../../parts/drag.js';
import { usePageKeys } from '../../parts/keys.js';
import { FormFields, SelectField } from '../../parts/form.js';
import { toast } from '../../parts/toast.js';
import { hrefOf, useFragment, useRoute } from '../../router.js';
import { w, wp } from '../../words.js';
import {
  Columns,
  DocumentsEditor,
  GRADES,
  MAX_DOCUMENTS,
  withLabel,
  type Ids,
  type Labels,
} from './documents.js';
import { LaneDetails } from './details.js';
import { Examples } from './examples.js';
import type { ManyQueriesProps } from './many.js';
import { Against, Agreement, Costs, Quality } from './measures.js';
import { LanePicker, useLaneNames } from './picker.js';
import { Rankings, type Bars } from './rankings.js';
import { RankTable } from './rank-table.js';
import { isDone, laneOf, resultsOf, useRuns, type RankedLane } from './use-runs.js';

const PAGE = 'playground';
const FIRST_ROWS = 20;
const RUNS = ['1', '3', '5', '10'] as const;
const PROBLEMS_TOLD = 20;

/** Ranks one’s own documents for a query with several models or channels: side by side, or more than four as a table. */
export function Playground() {
  const fragment = useFragment();
  const { query: address } = useRoute();
  const [begun] = useState(() => begin(address));
  const [query, setQuery] = useState(begun.query);
  const [text, setText] = useState(begun.documents);
  const [labels, setLabels] = useState<Labels>(() => labelsOf(begun));
  const [ids, setIds] = useState<Ids>(() => idsOf(begun));
  const [specs, setSpecs] = useState(begun.lanes);
  const [options, setOptions] = useState(begun.options);
  const [times, setTimes] = useState(() => timesOf(begun));
  const [table, setTable] = useState<Table>();
  const [problems, setProblems] = useState<readonly string[]>([]);
  const [reference, setReference] = useState<string>();
  const [bars, setBars] = useState<Bars>('raw');
  const [farOnly, setFarOnly] = useState(false);
  const [all, setAll] = useState(false);
  const [opened, setOpened] = useState<number>();
  const [copying, setCopying] = useState<LaneSpec>();
  const [detailed, setDetailed] = useState<LaneSpec>();
  const [showingCode, setShowingCode] = useState(false);
  const [examples, setExamples] = useState(false);
  const [Many, setMany] = useState<ComponentType<ManyQueriesProps>>();
  const runs = useRuns();
  const names = useLaneNames(specs);
  const prices = usePrices(specs);
  const documents = documentsOfText(text);
  const words = wp().playground;
  const isReady =
    query.trim() !== '' &&
    documents.length > 0 &&
    documents.length <= MAX_DOCUMENTS &&
    specs.length > 0;

  function put(shared: Shared): void {
    runs.clear();
    setTable(undefined);
    setProblems([]);
    setReference(undefined);
    setQuery(shared.query);
    setText(shared.documents);
    setSpecs(uniqueLanes(shared.lanes));
    setLabels(labelsOf(shared));
    setIds(idsOf(shared));
    setOptions(shared.options);
    setTimes(timesOf(shared));
    const listed = documentsOfText(shared.documents);
    runs.show(Object.fromEntries(shared.results.map((lane) => [lane.key, laneOf(lane, listed)])));
  }

  useEffect(() => {
    if (fragment === '') return;
    void readShared(fragment).then((shared) => {
      if (shared === undefined) toast(words.badLink);
      else put(shared);
    });
  }, [fragment]);

  const run = (): void => {
    if (!isReady) return;
    void runs.run({ lanes: specs, query, documents, options, runs: Number(times) });
  };

  function takeRead(read: DocumentsIn): boolean {
    setProblems(read.problems.slice(0, PROBLEMS_TOLD));
    if (read.query !== undefined) setQuery(read.query);
    if (read.documents.length === 0) return false;
    const next = textOfDocuments(read.documents);
    // Labels and ids are keyed by the texts as they will be read back from the field.
    const listed = documentsOfText(next);
    setText(next);
    setLabels(byText(listed, read.labels));
    setIds(byText(listed, read.ids));
    return true;
  }

  function takeText(name: string, content: string): boolean {
    const saved = savedIn(name, content);
    if (saved !== undefined) {
      put(saved);
      return true;
    }
    const found = tableOf(name, content);
    setTable(found);
    return takeRead(found === undefined ? documentsOfFile(name, content) : documentsOfTable(found));
  }

  async function takeFile(file: File | undefined): Promise<void> {
    if (file === undefined) return;
    takeText(file.name, textOfBytes(new Uint8Array(await file.arrayBuffer())));
  }

  usePageKeys((event) => {
    if (document.querySelector('dialog[open]') !== null) return;
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      run();
    } else if (event.key === 'Escape' && runs.running) runs.abort();
  });
  useEffect(() => {
    const onDrag = (event: DragEvent): void => {
      if (event.dataTransfer?.types.includes('Files') === true) event.preventDefault();
    };
    const onDrop = (event: DragEvent): void => {
      const [file] = event.dataTransfer?.files ?? [];
      if (file === undefined) return;
      event.preventDefault();
      void takeFile(file);
    };
    document.addEventListener('dragover', onDrag);
    document.addEventListener('drop', onDrop);
    return () => {
      document.removeEventListener('dragover', onDrag);
      document.removeEventListener('drop', onDrop);
    };
  });

  const shared: Shared = {
    ...{ query, documents: text, lanes: specs, options, runs: Number(times) },
    labels: byIndex(documents, labels),
    ids: byIndex(documents, ids),
    results: [],
  };
  useEffect(() => keepDraft(PAGE, shared), [query, text, labels, ids, specs, options, times]);
  const saveAll = (): void => {
    const whole = { ...shared, results: ranked.map(resultsOf) };
    save('playground.json', new Blob([JSON.stringify(whole)], { type: 'application/json' }));
  };

  async function savePicture(lanes: readonly RankedLane[]): Promise<void> {
    const { drawLanes } = await import('./picture.js');
    save('rankings.png', await drawLanes(lanes, all ? MAX_DOCUMENTS : FIRST_ROWS));
  }

  async function share(withResults: boolean): Promise<void> {
    const link = await shareText(
      withResults ? { ...shared, results: ranked.map(resultsOf) } : shared,
    );
    if (link.length <= MAX_LINK) {
      await copyText(`${location.origin}${hrefOf('playground')}#${link}`);
      return;
    }
    saveAll();
    toast(words.tooLong);
  }

  async function openMany(): Promise<void> {
    try {
      const { ManyQueries } = await import('./many.js');
      setMany(() => ManyQueries);
    } catch (error) {
      console.info('this part of the page cannot be loaded:', error);
      toast(w().shell.chunkGone);
    }
  }

  const change = (next: readonly LaneSpec[]): void => setSpecs(uniqueLanes(next));
  const keys = specs.map(keyOf);
  const ranked = keys.flatMap((key, at): RankedLane[] => {
    const lane = runs.lanes[key];
    return lane?.state === 'ranked' ? [{ ...lane, key, name: names[at] ?? '' }] : [];
  });
  const compared = ranked.find(({ key }) => key === reference) ?? ranked[0];
  const itemsOf = (spec: LaneSpec, at: number): readonly (MenuItem | undefined)[] => [
    keys.length < 2
      ? undefined
      : { label: words.makeReference, onClick: () => setReference(keyOf(spec)) },
    at === 0
      ? undefined
      : { label: words.moveLeft, onClick: () => change(moved(specs, at, at - 1)) },
    at === specs.length - 1
      ? undefined
      : { label: words.moveRight, onClick: () => change(moved(specs, at, at + 1)) },
    isDone(runs.lanes[keyOf(spec)])
      ? { label: words.details, onClick: () => setDetailed(spec) }
      : undefined,
    specs.length >= MAX_LANES
      ? undefined
      : { label: words.copyLane, onClick: () => setCopying(spec) },
    { label: words.removeLane, onClick: () => change(specs.filter((one) => one !== spec)) },
  ];
  const Shown = specs.length > SIDE_BY_SIDE ? RankTable : Rankings;
  return (
    <div class="stack wide">
      <div class="head">
        <h1>{w().nav.playground}</h1>
        <Button onClick={() => setExamples(true)}>{wp().examples.title}</Button>
        <Button disabled={specs.length === 0} onClick={() => void openMany()}>
          {wp().many.open}
        </Button>
        {ranked.length === 0 ? (
          <Button onClick={() => void share(false)}>{words.share}</Button>
        ) : (
          <Menu
            kind="plain"
            label={words.share}
            items={[
              { label: words.shareInput, onClick: () => void share(false) },
              { label: words.shareResults, onClick: () => void share(true) },
            ]}
          >
            {words.share} ▾
          </Menu>
        )}
        <Button disabled={specs.length === 0} onClick={() => setShowingCode(true)}>
          {words.copyAs}
        </Button>
        <Menu
          kind="plain"
          label={words.export}
          items={[
            { label: words.exportFile, onClick: () => saveAll() },
            ranked.length === 0
              ? undefined
              : {
                  label: w().csv,
                  onClick: () =>
                    save('rankings.csv', new Blob([tableText(ranked, ids)], { type: 'text/csv' })),
                },
            ranked.length === 0
              ? undefined
              : { label: words.picture, onClick: () => void savePicture(ranked) },
          ]}
        >
          {words.export} ▾
        </Menu>
      </div>
      <section class="card stack">
        <TextField label={words.query} value={query} onInput={setQuery} />
        <DocumentsEditor
          text={text}
          documents={documents}
          labels={labels}
          ids={ids}
          onText={setText}
          onLabels={setLabels}
          onPasted={takeText}
        />
        {table === undefined ? null : (
          <Columns
            table={table}
            onChange={(next) => {
              setTable(next);
              takeRead(documentsOfTable(next));
            }}
          />
        )}
        <div class="row">
          <label class="button">
            {words.file}
            <input
              class="hidden"
              type="file"
              accept=".txt,.csv,.tsv,.json,.jsonl,.ndjson"
              onChange={(event) => {
                void takeFile(event.currentTarget.files?.[0]);
                event.currentTarget.value = '';
              }}
            />
          </label>
          <Bill lanes={specs} query={query} documents={documents} runs={Number(times)} />
          {problems.length === 0 ? null : (
            <span class="warn small">{words.problems(problems.join('; '))}</span>
          )}
        </div>
        <Options options={options} times={times} onOptions={setOptions} onTimes={setTimes} />
        <div class="row">
          <span class="muted">{words.lanes}</span>
          {specs.map((spec, at) => (
            <Chip
              key={keys[at]}
              drag={dragging('lane', at, (from, to) => change(moved(specs, from, to)))}
              onRemove={() => change(specs.filter((one) => one !== spec))}
            >
              {names[at]}
            </Chip>
          ))}
          {specs.length < MAX_LANES ? (
            <LanePicker onAdd={(lane) => change([...specs, lane])} />
          ) : null}
          <span class="grow" />
          {runs.running ? (
            <Button onClick={runs.abort}>{words.stop}</Button>
          ) : (
            <Button kind="main" disabled={!isReady} onClick={run}>
              {words.run} <kbd>Ctrl ⏎</kbd>
            </Button>
          )}
        </div>
      </section>
      {ranked.length === 0 ? null : (
        <div class="row">
          {specs.length > SIDE_BY_SIDE ? null : (
            <>
              <Segments
                label={words.bars}
                value={bars}
                choices={(['raw', 'share', 'softmax'] as const).map((value) => ({
                  value,
                  label: words.barKinds[value],
                }))}
                onChange={setBars}
              />
              <Check label={words.farOnly} checked={farOnly} onChange={setFarOnly} />
            </>
          )}
          {ranked.some(({ reply }) => reply.results.length > FIRST_ROWS) ? (
            <Button kind="quiet" onClick={() => setAll(!all)}>
              {all
                ? words.first(FIRST_ROWS)
                : words.all(Math.max(...ranked.map(({ reply }) => reply.results.length)))}
            </Button>
          ) : null}
          {ranked.length > 1 ? <span class="muted small">{words.notComparable}</span> : null}
        </div>
      )}
      {[...new Set(ranked.flatMap(({ reply }) => reply.warnings))].map((warning) => (
        <p class="notice warn-bar small" key={warning}>
          {warning}
        </p>
      ))}
      <Shown
        lanes={specs.map((spec, at) => ({
          key: keyOf(spec),
          name: names[at] ?? '',
          lane: runs.lanes[keyOf(spec)] ?? { state: 'idle' },
          items: itemsOf(spec, at),
        }))}
        reference={compared?.key}
        bars={bars}
        farOnly={farOnly}
        most={all ? MAX_DOCUMENTS : FIRST_ROWS}
        marks={marksOf(query)}
        onOpen={setOpened}
      />
      {ranked.length > 1 && compared !== undefined ? (
        <Against lanes={ranked} reference={compared} />
      ) : null}
      {ranked.length === 0 ? null : (
        <div class="halves">
          {labels.size > 0 ? <Quality lanes={ranked} labels={labels} /> : null}
          {ranked.length > 1 ? <Agreement lanes={ranked} /> : null}
        </div>
      )}
      {ranked.length === 0 ? null : <Costs lanes={ranked} />}
      {examples ? (
        <Examples
          now={shared}
          onOpen={(example) => {
            setExamples(false);
            put(example);
          }}
          onClose={() => setExamples(false)}
        />
      ) : null}
      {Many === undefined ? null : (
        <Many
          specs={specs}
          names={names}
          options={options}
          costOf={(one, listed) => costOf(prices, one, listed)}
          onClose={() => setMany(undefined)}
        />
      )}
      {showingCode ? (
        <LaneCode
          lanes={specs}
          names={names}
          bodyOf={(lane) => bodyOf(lane, query, documents, options)}
          onClose={() => setShowingCode(false)}
        />
      ) : null}
      {detailed === undefined ? null : (
        <LaneDetails
          name={names[specs.indexOf(detailed)] ?? detailed.model}
          lane={runs.lanes[keyOf(detailed)] ?? { state: 'idle' }}
          onClose={() => setDetailed(undefined)}
        />
      )}
      {copying === undefined ? null : (
        <CopyLane
          onClose={() => setCopying(undefined)}
          onCopy={(instruction) => {
            change([...specs, { ...copying, instruction }]);
            setCopying(undefined);
          }}
        />
      )}
      {opened === undefined ? null : (
        <OneDocument
          index={opened}
          text={ranked[0]?.documents[opened] ?? documents[opened] ?? ''}
          lanes={ranked}
          labels={labels}
          id={ids.get(ranked[0]?.documents[opened] ?? documents[opened] ?? '')}
          onLabels={setLabels}
          onClose={() => setOpened(undefined)}
        />
      )}
    </div>
  );
}

/** What is on the page at first: what was left there, with the lane that the address names, or the example. */
function begin(address: URLSearchParams): Shared {
  const left = sharedOf(draftOf(PAGE));
  const lanes = [firstLane(address)];
  const named = address.has('model') || address.has('channel');
  if (left !== undefined) return named ? { ...left, lanes } : left;
  const { query, documents } = EXAMPLE_BODY;
  return sharing(query, documents.join('\n'), lanes);
}

function labelsOf({ documents, labels }: Shared): Labels {
  const listed = documentsOfText(documents);
  return new Map(labels.map(([index, grade]) => [listed[index] ?? '', grade]));
}

function idsOf({ documents, ids }: Shared): Ids {
  const listed = documentsOfText(documents);
  return new Map(ids.map(([index, id]) => [listed[index] ?? '', id]));
}

/** What documents have, by their text; those without it are left out. */
function byText<T>(
  documents: readonly string[],
  values: readonly (T | undefined)[],
): ReadonlyMap<string, T> {
  return new Map(
    documents.flatMap((text, index) => {
      const value = values[index];
      return value === undefined ? [] : [[text, value] as const];
    }),
  );
}

/** The same by their index in the list. */
function byIndex<T>(
  documents: readonly string[],
  values: ReadonlyMap<string, T>,
): (readonly [index: number, value: T])[] {
  return documents.flatMap((text, index) => {
    const value = values.get(text);
    return value === undefined ? [] : [[index, value] as const];
  });
}

function timesOf({ runs }: Shared): (typeof RUNS)[number] {
  return RUNS.find((one) => Number(one) >= runs) ?? '10';
}

/** The lane that the address names, for example after a click on a channel’s playground button. */
function firstLane(address: URLSearchParams): LaneSpec {
  const model = address.get('model') ?? about.get()?.default_model ?? 'local';
  const channel = Number(address.get('channel') ?? 0);
  return Number.isSafeInteger(channel) && channel > 0 ? { model, channel } : { model };
}

/** Merges lanes that would send the same request, and keeps at most `MAX_LANES`. */
function uniqueLanes(lanes: readonly LaneSpec[]): readonly LaneSpec[] {
  return [...new Map(lanes.map((lane) => [keyOf(lane), lane])).values()].slice(0, MAX_LANES);
}

/** The content of a file that this page saved; `undefined` for any other file. */
function savedIn(name: string, content: string): Shared | undefined {
  if (!name.endsWith('.json')) return undefined;
  try {
    return sharedOf(JSON.parse(content));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

type LanePrice = Parameters<typeof aboutCost>[0] | undefined;

/** The price of each lane, where it is known. */
function usePrices(lanes: readonly LaneSpec[]): readonly LanePrice[] {
  const { data } = useRead('listOwnModels');
  return lanes.map(({ model: name }) => {
    const model = name.replace(/@[^@]*$/, '');
    return data?.find(({ id, aliases }) =>
      [id, ...aliases].some((one) => one === name || one === model),
    )?.price;
  });
}

/** What one query costs with all lanes; `undefined` where a price is not known. */
function costOf(
  prices: readonly LanePrice[],
  query: string,
  documents: readonly string[],
): number | undefined {
  let sum = 0;
  for (const price of prices) {
    if (price === undefined) return undefined;
    sum += aboutCost(price, query, documents);
  }
  return sum;
}

/** Estimates the cost of a run in advance, as far as the prices of the lanes are known. */
function Bill({
  lanes,
  query,
  documents,
  runs,
}: {
  readonly lanes: readonly LaneSpec[];
  readonly query: string;
  readonly documents: readonly string[];
  readonly runs: number;
}) {
  const prices = usePrices(lanes);
  const known = prices.filter((price) => price !== undefined);
  if (known.length === 0 || documents.length === 0) return null;
  const units = known.reduce((sum, price) => sum + aboutCost(price, query, documents), 0) * runs;
  const cost = money(units);
  return (
    <span class="muted small">
      {wp().playground.bill(
        aboutTokens(documents),
        known.length === lanes.length ? cost : `≥ ${cost}`,
        lanes.length * runs,
      )}
    </span>
  );
}

function Options({
  options,
  times,
  onOptions,
  onTimes,
}: {
  readonly options: LaneOptions;
  readonly times: (typeof RUNS)[number];
  readonly onOptions: (options: LaneOptions) => void;
  readonly onTimes: (times: (typeof RUNS)[number]) => void;
}) {
  const words = wp().playground;
  return (
    <details>
      <summary>{words.options}</summary>
      <div class="stack">
        <div class="halves">
          <FormFields
            values={options}
            onChange={(values) => onOptions({ ...options, ...values })}
            error={undefined}
            fields={[
              { name: 'top_n', label: words.topN, help: words.topNHelp, type: 'number', min: 1 },
              { name: 'max_tokens_per_doc', label: words.maxTokens, type: 'number', min: 1 },
              { name: 'instruction', label: words.instruction, help: words.instructionHelp },
              { name: 'priority', label: words.priority, help: words.priorityHelp, type: 'number' },
            ]}
          />
          <SelectField
            label={words.truncation}
            value={options.truncation}
            choices={(['', 'true', 'false'] as const).map((value) => ({
              value,
              label: words.truncations[value],
            }))}
            onChange={(truncation) => onOptions({ ...options, truncation })}
          />
        </div>
        <div class="row">
          <span>{words.runs}</span>
          <Segments
            label={words.runs}
            value={times}
            choices={RUNS.map((value) => ({ value, label: value }))}
            onChange={onTimes}
          />
          <span class="muted small">{words.runsHelp}</span>
        </div>
      </div>
    </details>
  );
}

function LaneCode({
  lanes,
  names,
  bodyOf: bodyOfLane,
  onClose,
}: {
  readonly lanes: readonly LaneSpec[];
  readonly names: readonly string[];
  readonly bodyOf: (lane: LaneSpec) => ReturnType<typeof bodyOf>;
  readonly onClose: () => void;
}) {
  const [at, setAt] = useState('0');
  const words = wp().playground;
  const lane = lanes[Number(at)];
  if (lane === undefined) return null;
  const asLogin = lane.channel !== undefined;
  return (
    <Dialog title={words.copyAs} kind="wide" onClose={onClose}>
      {lanes.length < 2 ? null : (
        <Segments
          label={words.lane}
          value={at}
          choices={names.map((label, index) => ({ value: String(index), label }))}
          onChange={setAt}
        />
      )}
      <p class="muted">{asLogin ? words.copyHelpChannel : words.copyHelp}</p>
      <RequestCode body={{ ...bodyOfLane(lane) }} asLogin={asLogin} />
    </Dialog>
  );
}

function CopyLane({
  onCopy,
  onClose,
}: {
  readonly onCopy: (instruction: string) => void;
  readonly onClose: () => void;
}) {
  const [instruction, setInstruction] = useState('');
  const words = wp().playground;
  return (
    <Dialog
      title={words.copyLane}
      onClose={onClose}
      onSubmit={() => onCopy(instruction.trim())}
      foot={
        <>
          <Button onClick={onClose}>{w().cancel}</Button>
          <Button kind="main" type="submit">
            {words.add}
          </Button>
        </>
      }
    >
      <TextField
        label={words.instructionOwn}
        help={words.instructionHelp}
        value={instruction}
        onInput={setInstruction}
        autofocus
      />
    </Dialog>
  );
}

/** One document in full: its label, and its rank and score in every lane. */
function OneDocument({
  index,
  text,
  lanes,
  id,
  labels,
  onLabels,
  onClose,
}: {
  readonly index: number;
  readonly id: string | undefined;
  readonly text: string;
  readonly lanes: readonly RankedLane[];
  readonly labels: Labels;
  readonly onLabels: (labels: Labels) => void;
  readonly onClose: () => void;
}) {
  const words = wp().playground;
  return (
    <Dialog title={words.document(index + 1)} kind="drawer" onClose={onClose}>
      {id === undefined ? null : <code class="small muted">{id}</code>}
      <p class="wrap document">{text}</p>
      <div class="stack tight">
        <Segments
          label={words.relevance}
          value={GRADES.find((one) => one !== '' && Number(one) === labels.get(text)) ?? ''}
          choices={GRADES.map((value) => ({ value, label: value === '' ? '–' : value }))}
          onChange={(grade) => onLabels(withLabel(labels, text, grade))}
        />
        <p class="small muted">{words.relevanceHelp}</p>
      </div>
      <dl class="facts">
        {lanes.map(({ key, name, reply }) => {
          const rank = reply.results.findIndex((row) => row.index === index);
          const score = reply.results[rank]?.relevance_score;
          return [
            <dt key={key}>{name}</dt>,
            <dd key={`${key} rank`}>
              {score === undefined ? words.notRanked : words.rankIn(rank + 1, significant(score))}
            </dd>,
          ];
        })}
      </dl>
    </Dialog>
  );
}

/** All lanes side by side as CSV, one row per document. */
function tableText(lanes: readonly RankedLane[], ids: Ids): string {
  const documents = lanes[0]?.documents ?? [];
  const head = lanes.flatMap(({ name }) => [`${name} rank`, `${name} score`]);
  const rows = documents.map((text, index) => [
    ...[String(index + 1), ...(ids.size === 0 ? [] : [ids.get(text) ?? '']), text],
    ...lanes.flatMap(({ reply }) => {
      const rank = reply.results.findIndex((row) => row.index === index);
      return rank < 0
        ? ['', '']
        : [String(rank + 1), String(reply.results[rank]?.relevance_score ?? '')];
    }),
  ]);
  const named = ids.size === 0 ? [] : ['id'];
  return csvOf([['document', ...named, 'text', ...head], ...rows]);
}
