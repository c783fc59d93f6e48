import { MAX_LANES, keyOf } from '../../lib/lanes.js';
import { Button, Chip } from '../../parts/buttons.js';
import { dragging } from '../../parts/drag.js';
import { TextField } from '../../parts/fields.js';
import { wp } from '../../words.js';
import { Columns, DocumentsEditor } from './documents.js';
import { Bill, Options } from './options.js';
import { LanePicker } from './picker.js';
import type { Inputs } from './use-inputs.js';
import type { Runs } from './use-runs.js';

const QUERY_ROWS = 6;
/** Characters of a line of the query, more or less. */
const LINE = 90;

/** The query, the documents, the options and the lanes. */
export function InputCard({
  inputs,
  names,
  runs,
  reading,
  onRun,
}: {
  readonly inputs: Inputs;
  readonly names: readonly string[];
  readonly runs: Runs;
  readonly reading: boolean;
  /** `undefined` while there is nothing to run. */
  readonly onRun: (() => void) | undefined;
}) {
  const { query, documents, specs, table, problems, times } = inputs;
  const words = wp().playground;
  return (
    <section class="card stack" aria-busy={reading}>
      <TextField
        label={words.query}
        value={query}
        onInput={inputs.setQuery}
        rows={Math.min(QUERY_ROWS, rowsOf(query))}
      />
      <DocumentsEditor of={inputs} />
      {table === undefined ? null : <Columns table={table} onChange={inputs.takeTable} />}
      <div class="row">
        <label class="button">
          {words.file}
          <input
            class="hidden"
            type="file"
            accept=".txt,.csv,.tsv,.json,.jsonl,.ndjson"
            onChange={(event) => {
              void inputs.takeFile(event.currentTarget.files?.[0]);
              event.currentTarget.value = '';
            }}
          />
        </label>
        <Bill lanes={specs} query={query} documents={documents} runs={Number(times)} />
        {problems.length === 0 ? null : (
          <span class="warn small">{words.problems(problems.join('; '))}</span>
        )}
      </div>
      <Options of={inputs} />
      <div class="row">
        <span class="muted">{words.lanes}</span>
        {specs.map((spec, at) => (
          <Chip
            key={keyOf(spec)}
            drag={dragging('lane', at, inputs.moveLane)}
            onRemove={() => inputs.setLanes(specs.filter((one) => one !== spec))}
          >
            {names[at]}
          </Chip>
        ))}
        {specs.length < MAX_LANES ? (
          <LanePicker onAdd={(lane) => inputs.setLanes([...specs, lane])} />
        ) : null}
        <span class="grow" />
        {runs.running ? (
          <Button onClick={runs.abort}>{words.stop}</Button>
        ) : (
          <Button kind="main" disabled={onRun === undefined} onClick={onRun}>
            {words.run} <kbd>Ctrl ⏎</kbd>
          </Button>
        )}
      </div>
    </section>
  );
}

/** How many lines a query takes, more or less. */
function rowsOf(query: string): number {
  return query.split('\n').reduce((rows, line) => rows + 1 + Math.floor(line.length / LINE), 0);
}
