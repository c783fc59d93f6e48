import { useEffect, useMemo, useState } from 'preact/hooks';
import { save } from '../../api/call.js';
import { keepDraft } from '../../drafts.js';
import {
  documentsOfFile,
  documentsOfTable,
  documentsOfText,
  tableOf,
  textOfBytes,
  textOfDocuments,
  type DocumentsIn,
  type Table,
} from '../../../core/documents-in.js';
import { MAX_LANES, bodyOf, keyOf, type LaneSpec } from '../../lib/lanes.js';
import { MAX_LINK, readShared, shareText, type LinkFault, type Shared } from '../../lib/share.js';
import { Button, Chip, copyText } from '../../parts/buttons.js';
import { TextField } from '../../parts/fields.js';
import { Menu } from '../../parts/dialog.js';
import { dragging, moved } from '../../parts/drag.js';
import { usePageKeys } from '../../parts/keys.js';
import { toast } from '../../parts/toast.js';
import { hrefOf, useFragment, useRoute } from '../../router.js';
import { w, wp } from '../../words.js';
import { copyPromised } from './clipboard.js';
import { LaneCode } from './dialogs.js';
import { Columns, DocumentsEditor, MAX_DOCUMENTS, type Ids, type Labels } from './documents.js';
import { Examples } from './examples.js';
import {
  NO_QUERIES,
  PAGE,
  begin,
  byIndex,
  byText,
  idsOf,
  labelsOf,
  savedIn,
  tableText,
  timesOf,
  uniqueLanes,
  type QueriesFile,
} from './inputs.js';
import { Bill, Options, costOf, usePrices } from './options.js';
import { LanePicker, useLaneNames } from './picker.js';
import { FIRST_ROWS, Results } from './results.js';
import { scoresOf, useEvaluation } from './use-evaluation.js';
import { laneOf, resultsOf, useRuns, type RankedLane } from './use-runs.js';

const PROBLEMS_TOLD = 20;
const QUERY_ROWS = 6;
/** Characters of a line of the query, more or less. */
const LINE = 90;

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
  const [all, setAll] = useState(false);
  const [showingCode, setShowingCode] = useState(false);
  const [examples, setExamples] = useState(false);
  const [judging, setJudging] = useState(false);
  const [file, setFile] = useState<QueriesFile>(begun.many ?? NO_QUERIES);
  const [reading, setReading] = useState(fragment !== '');
  const [fault, setFault] = useState<LinkFault>();
  const runs = useRuns();
  const evaluation = useEvaluation(options, begun.many);
  const names = useLaneNames(specs);
  const prices = usePrices(specs);
  const documents = useMemo(() => documentsOfText(text), [text]);
  const words = wp().playground;
  const isReady =
    !reading &&
    query.trim() !== '' &&
    documents.length > 0 &&
    documents.length <= MAX_DOCUMENTS &&
    specs.length > 0;

  function put(shared: Shared): void {
    runs.clear();
    setTable(undefined);
    setProblems([]);
    setFault(undefined);
    setQuery(shared.query);
    setText(shared.documents);
    setSpecs(uniqueLanes(shared.lanes));
    setLabels(labelsOf(shared));
    setIds(idsOf(shared));
    setOptions(shared.options);
    setTimes(timesOf(shared));
    const listed = documentsOfText(shared.documents);
    setFile(shared.many ?? NO_QUERIES);
    evaluation.show(shared.many);
    runs.show(
      Object.fromEntries(
        shared.results.map((lane) => [lane.key, laneOf(lane, shared.query, listed)]),
      ),
    );
  }

  useEffect(() => {
    if (fragment === '') return undefined;
    let isLatest = true;
    setReading(true);
    void readShared(fragment).then((shared) => {
      if (!isLatest) return;
      setReading(false);
      if (typeof shared === 'string') setFault(shared);
      else put(shared);
    });
    return () => {
      isLatest = false;
    };
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
    ...(file.text === '' && evaluation.lanes.size === 0
      ? {}
      : { many: { ...file, queries: [], lanes: [] } }),
  };
  const measured = { ...file, queries: evaluation.queries, lanes: scoresOf(evaluation) };
  const withMany = shared.many === undefined ? {} : { many: measured };
  useEffect(
    () => keepDraft(PAGE, { ...shared, ...withMany }),
    [query, text, labels, ids, specs, options, times, file, evaluation.lanes],
  );
  const withResults = (): Shared => ({
    ...shared,
    ...withMany,
    results: ranked.map(resultsOf),
  });
  const saveAll = (): void => {
    const whole = withResults();
    save('playground.json', new Blob([JSON.stringify(whole)], { type: 'application/json' }));
  };

  async function savePicture(lanes: readonly RankedLane[]): Promise<void> {
    const { drawLanes } = await import('./picture.js');
    save('rankings.png', await drawLanes(lanes, all ? MAX_DOCUMENTS : FIRST_ROWS));
  }

  async function share(content: Shared): Promise<void> {
    const packed = shareText(content);
    const isShort = packed.then(({ length }) => length <= MAX_LINK);
    const address = packed.then((link) => `${location.origin}${hrefOf('playground')}#${link}`);
    if (await copyPromised(address, isShort)) {
      toast(w().copied);
    } else if (await isShort) {
      await copyText(await address);
    } else {
      saveAll();
      toast(words.tooLong);
    }
  }

  const change = (next: readonly LaneSpec[]): void => setSpecs(uniqueLanes(next));
  const ranked = useMemo(
    () =>
      specs.flatMap((spec, at): RankedLane[] => {
        const key = keyOf(spec);
        const lane = runs.lanes[key];
        return lane?.state === 'ranked' ? [{ ...lane, key, name: names[at] ?? '' }] : [];
      }),
    [specs, names, runs.lanes],
  );
  const many = useMany(judging || evaluation.lanes.size > 0);
  const hasResults = ranked.length > 0 || evaluation.lanes.size > 0;
  // Of what is typed into the fields above it, it shows nothing.
  const results = useMemo(
    () => (
      <Results
        {...{ specs, names, ranked, labels, ids, all }}
        lanes={runs.lanes}
        onAll={setAll}
        onLanes={change}
        onLabels={setLabels}
      />
    ),
    [specs, names, ranked, runs.lanes, labels, ids, all],
  );
  return (
    <div class="stack wide">
      <div class="head">
        <h1>{w().nav.playground}</h1>
        <Button onClick={() => setExamples(true)}>{wp().examples.title}</Button>
        <Button disabled={specs.length === 0} onClick={() => setJudging(true)}>
          {wp().many.open}
        </Button>
        {!hasResults ? (
          <Button onClick={() => void share(shared)}>{words.share}</Button>
        ) : (
          <Menu
            kind="plain"
            label={words.share}
            items={[
              { label: words.shareInput, onClick: () => void share(shared) },
              { label: words.shareResults, onClick: () => void share(withResults()) },
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
      {fault === undefined ? null : (
        <p class="notice warn-bar" role="alert">
          {words.linkFaults[fault]}
        </p>
      )}
      <section class="card stack" aria-busy={reading}>
        <TextField
          label={words.query}
          value={query}
          onInput={setQuery}
          rows={Math.min(QUERY_ROWS, rowsOf(query))}
        />
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
              key={keyOf(spec)}
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
      {results}
      {many === undefined || evaluation.lanes.size === 0 || judging ? null : (
        <many.ManyResult
          {...{ specs, names, evaluation }}
          onRemove={() => evaluation.show(undefined)}
        />
      )}
      {examples ? (
        <Examples
          now={shared}
          onOpen={(example) => {
            setExamples(false);
            put(example.lanes.length === 0 ? { ...example, lanes: specs } : example);
          }}
          onClose={() => setExamples(false)}
        />
      ) : null}
      {judging && many !== undefined ? (
        <many.ManyQueries
          {...{ specs, names, evaluation, file }}
          onFile={setFile}
          costOf={(one, listed) => costOf(prices, one, listed)}
          onClose={() => setJudging(false)}
        />
      ) : null}
      {showingCode ? (
        <LaneCode
          lanes={specs}
          names={names}
          bodyOf={(lane) => bodyOf(lane, query, documents, options)}
          onClose={() => setShowingCode(false)}
        />
      ) : null}
    </div>
  );
}

type ManyPart = typeof import('./many.js');

/** The part of the page for many queries, once it is wanted. */
function useMany(isWanted: boolean): ManyPart | undefined {
  const [part, setPart] = useState<ManyPart>();
  useEffect(() => {
    if (!isWanted || part !== undefined) return;
    import('./many.js').then(setPart, (error: unknown) => {
      console.info('this part of the page cannot be loaded:', error);
      toast(w().shell.chunkGone);
    });
  }, [isWanted]);
  return part;
}

/** How many lines a query takes, more or less. */
function rowsOf(query: string): number {
  return query.split('\n').reduce((rows, line) => rows + 1 + Math.floor(line.length / LINE), 0);
}
