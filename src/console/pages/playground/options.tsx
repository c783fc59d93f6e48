import { useRead } from '../../api/query.js';
import { aboutCost, aboutTokens } from '../../lib/bill.js';
import type { LaneSpec } from '../../lib/lanes.js';
import { choicesOf } from '../../parts/choice.js';
import { Segments } from '../../parts/fields.js';
import { money } from '../../parts/values.js';
import { FormFields, SelectField } from '../../parts/form.js';
import { wp } from '../../words.js';
import { RUNS } from './inputs.js';
import type { Inputs } from './use-inputs.js';
import type { RunInput } from './use-runs.js';

type LanePrice = Parameters<typeof aboutCost>[0] | undefined;

/** The price of each lane, where it is known. */
export function usePrices(lanes: readonly LaneSpec[]): readonly LanePrice[] {
  const { data } = useRead('listOwnModels');
  return lanes.map(({ model: name }) => {
    const model = name.replace(/@[^@]*$/, '');
    return data?.find(({ id, aliases }) =>
      [id, ...aliases].some((one) => one === name || one === model),
    )?.price;
  });
}

/** What one query costs with all lanes; `undefined` where a price is not known. */
export function costOf(
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
export function Bill({ lanes, query, documents, runs }: Omit<RunInput, 'options'>) {
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

export function Options({ of: { options, setOptions, times, setTimes } }: { readonly of: Inputs }) {
  const words = wp().playground;
  return (
    <details>
      <summary>{words.options}</summary>
      <div class="stack">
        <div class="halves">
          <FormFields
            values={options}
            onChange={(values) => setOptions({ ...options, ...values })}
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
            choices={choicesOf(words.truncations)}
            onChange={(truncation) => setOptions({ ...options, truncation })}
          />
        </div>
        <div class="row">
          <span>{words.runs}</span>
          <Segments
            label={words.runs}
            value={times}
            choices={RUNS.map((value) => ({ value, label: value }))}
            onChange={setTimes}
          />
          <span class="muted small">{words.runsHelp}</span>
        </div>
      </div>
    </details>
  );
}
