import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { save } from '../../api/call.js';
import { csvOf } from '../../../core/csv.js';
import { textOfBytes } from '../../../core/documents-in.js';
import { duration } from '../../lib/format.js';
import { keyOf, type LaneSpec } from '../../lib/lanes.js';
import { meanOf, type Mean } from '../../lib/means.js';
import { queriesOf, queriesOfPaste } from '../../lib/queries-in.js';
import { spreadOf } from '../../lib/runs.js';
import { Button } from '../../parts/buttons.js';
import { TextField } from '../../parts/fields.js';
import { ErrorNotice } from '../../parts/notices.js';
import { money } from '../../parts/values.js';
import { Dialog, type Closable } from '../../parts/dialog.js';
import { w, wp } from '../../words.js';
import { MAX_DOCUMENTS, type QueriesFile } from './inputs.js';
import { Measures } from './measures.js';
import type { Evaluated, Evaluation, Score } from './use-evaluation.js';

/** The most requests of one run: at sixty a minute it takes some minutes. */
const MAX_REQUESTS = 500;
const PROBLEMS_TOLD = 5;

interface ResultProps {
  readonly specs: readonly LaneSpec[];
  readonly names: readonly string[];
  readonly evaluation: Evaluation;
}

interface ManyQueriesProps extends ResultProps, Closable {
  readonly file: QueriesFile;
  readonly onFile: (file: QueriesFile) => void;
  /** What one query will cost with all lanes, as far as their prices are known. */
  readonly costOf: (query: string, documents: readonly string[]) => number | undefined;
}

/** Ranks many queries with labelled documents by each lane of the page, and says how good each lane is overall. */
export function ManyQueries(props: ManyQueriesProps) {
  const { specs, names, evaluation, file, onFile, costOf, onClose } = props;
  const words = wp().many;
  const isTyped = file.name === '';
  const read = useMemo(
    () => (isTyped ? queriesOfPaste(file.text) : queriesOf(file.name, file.text)),
    [file],
  );
  const { problems } = read;
  const queries = read.queries.filter(({ documents }) => documents.length <= MAX_DOCUMENTS);
  const requests = queries.length * specs.length;
  const cost = sumOf(queries.map(({ query, documents }) => costOf(query, documents)));
  const isReady = requests > 0 && requests <= MAX_REQUESTS;
  const { running, run, stop, lanes } = evaluation;
  const done = [...lanes.values()].reduce(
    (sum, { scores, failed }) => sum + scores.size + failed,
    0,
  );
  const start = (): void => {
    if (isReady && !running) void run(specs, queries);
  };
  return (
    <Dialog
      kind="wide"
      title={words.title}
      onClose={() => (running ? stop() : onClose())}
      onSubmit={start}
      foot={
        <>
          <span class="grow muted small" role="status">
            {running ? words.progress(done, requests) : ''}
          </span>
          {done === 0 || running ? null : (
            <Button onClick={() => saveScores(specs, names, evaluation)}>{w().csv}</Button>
          )}
          {running ? (
            <Button onClick={stop}>{wp().playground.stop}</Button>
          ) : (
            <Button kind="main" type="submit" disabled={!isReady}>
              {wp().playground.run}
            </Button>
          )}
        </>
      }
    >
      <TextField
        label={words.queries}
        help={words.help}
        rows={6}
        mono
        value={isTyped ? file.text : ''}
        placeholder={words.example}
        onInput={(text) => onFile({ name: '', text })}
      />
      <div class="row">
        <label class="button">
          {wp().playground.file}
          <input
            class="hidden"
            type="file"
            accept=".jsonl,.ndjson,.json,.csv,.tsv"
            onChange={(event) => {
              const [picked] = event.currentTarget.files ?? [];
              event.currentTarget.value = '';
              void picked
                ?.arrayBuffer()
                .then((bytes) =>
                  onFile({ name: picked.name, text: textOfBytes(new Uint8Array(bytes)) }),
                );
            }}
          />
        </label>
        {isTyped ? null : <span class="small">{file.name}</span>}
        <span class={requests > MAX_REQUESTS ? 'small bad' : 'small muted'} role="status">
          {words.bill(queries.length, specs.length, MAX_REQUESTS)}
          {cost === undefined || requests === 0 ? '' : ` ${words.cost(money(cost))}`}
        </span>
      </div>
      {problems.length === 0 || file.text === '' ? null : (
        <p class="warn small">
          {wp().playground.problems(problems.slice(0, PROBLEMS_TOLD).join('; '))}
          {problems.length > PROBLEMS_TOLD ? ` … (${problems.length})` : ''}
        </p>
      )}
      {lanes.size === 0 ? null : <Result {...{ specs, names, evaluation }} />}
    </Dialog>
  );
}

/** A sum whose parts are all known. */
function sumOf(costs: readonly (number | undefined)[]): number | undefined {
  return costs.includes(undefined)
    ? undefined
    : costs.reduce<number>((sum, one) => sum + (one ?? 0), 0);
}

/** The same once the dialog is closed, as long as nobody removes it. */
export function ManyResult(props: ResultProps & { readonly onRemove: () => void }) {
  const { specs, names, evaluation, onRemove } = props;
  return (
    <Result
      {...props}
      beside={
        <div class="row tight">
          {evaluation.given ? <span class="small muted">{wp().playground.fromLink}</span> : null}
          <Button onClick={() => saveScores(specs, names, evaluation)}>{w().csv}</Button>
          <Button kind="icon" label={wp().many.remove} onClick={onRemove}>
            ✕
          </Button>
        </div>
      }
    />
  );
}

function Result({
  specs,
  names,
  evaluation: { lanes },
  beside,
}: ResultProps & { readonly beside?: ComponentChildren }) {
  const words = wp().many;
  const evaluated = specs.flatMap((spec, at) => {
    const lane = lanes.get(keyOf(spec));
    return lane === undefined ? [] : [{ name: names[at] ?? spec.model, lane }];
  });
  const [first] = evaluated;
  const failure = evaluated.find(({ lane }) => lane.error !== undefined)?.lane.error;
  return (
    <>
      <Measures
        title={words.result}
        beside={beside}
        heads={[
          ...[words.ranked, wp().requests.failed, 'nDCG@10', 'MRR'],
          ...(evaluated.length < 2 ? [] : [words.difference]),
          ...['p50', 'p95', wp().requests.cost],
        ]}
        rows={evaluated.map(({ name, lane }) => {
          const scores = [...lane.scores.values()];
          const ms = spreadOf(scores.map((score) => score.ms));
          const time = (value: number): string => (scores.length === 0 ? '–' : duration(value));
          return {
            name,
            cells: [
              ...[lane.scores.size, lane.failed],
              told(meanOf(scores.map(({ ndcg }) => ndcg))),
              told(meanOf(scores.map(({ reciprocalRank }) => reciprocalRank))),
              ...(evaluated.length < 2
                ? []
                : [lane === first?.lane ? '–' : told(differenceOf(lane, first?.lane), true)]),
              ...[time(ms.p50), time(ms.p95)],
              money(scores.reduce((sum, { quota }) => sum + quota, 0)),
            ],
          };
        })}
      >
        <p class="muted small">
          {words.confidence}
          {evaluated.length < 2 ? '' : ` ${words.differenceHelp(first?.name ?? '')}`}
        </p>
      </Measures>
      <ErrorNotice error={failure} />
    </>
  );
}

/** By how much a lane is better than another one, over the queries that both ranked. */
function differenceOf(lane: Evaluated, other: Evaluated | undefined): Mean | undefined {
  return meanOf(
    Array.from(lane.scores).flatMap(([at, { ndcg }]) => {
      const beside = other?.scores.get(at);
      return beside === undefined ? [] : [ndcg - beside.ndcg];
    }),
  );
}

function told(mean: Mean | undefined, isSigned = false): string {
  if (mean === undefined) return '–';
  const sign = mean.mean < 0 ? '−' : isSigned && mean.mean > 0 ? '+' : '';
  const within = mean.within === undefined ? '' : ` ± ${mean.within.toFixed(3)}`;
  return `${sign}${Math.abs(mean.mean).toFixed(3)}${within}`;
}

function saveScores(
  specs: readonly LaneSpec[],
  names: readonly string[],
  { lanes, queries }: Evaluation,
): void {
  const cells = (score: Score | undefined): (number | null)[] =>
    score === undefined ? [null, null, null] : [score.ndcg, score.reciprocalRank, score.ms];
  const head = names.flatMap((name) => [`${name} nDCG@10`, `${name} RR`, `${name} ms`]);
  const rows = queries.map((query, at) => [
    query,
    ...specs.flatMap((spec) => cells(lanes.get(keyOf(spec))?.scores.get(at))),
  ]);
  save('queries.csv', new Blob([csvOf(['query', ...head], rows)], { type: 'text/csv' }));
}
