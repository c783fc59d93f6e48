import { useEffect, useMemo, useState } from 'preact/hooks';
import { documentsOfText } from '../../../core/documents-in.js';
import { keepDraft } from '../../drafts.js';
import { bodyOf, keyOf } from '../../lib/lanes.js';
import type { LinkFault, Shared } from '../../lib/share.js';
import { usePageKeys } from '../../parts/keys.js';
import { toast } from '../../parts/toast.js';
import { useRoute } from '../../router.js';
import { w, wp } from '../../words.js';
import { LaneCode } from './dialogs.js';
import { Examples } from './examples.js';
import { Head, type Opened } from './head.js';
import { InputCard } from './input-card.js';
import { begin, MAX_DOCUMENTS, PAGE } from './inputs.js';
import { costOf, usePrices } from './options.js';
import { useLaneNames } from './picker.js';
import { Results } from './results.js';
import { scoresOf, useEvaluation } from './use-evaluation.js';
import { useDroppedFile, useInputs, type Inputs } from './use-inputs.js';
import { laneOf, resultsOf, useRuns, type RankedLane, type Runs } from './use-runs.js';
import { useLink } from './use-sharing.js';

/** Ranks one’s own documents for a query with several models or channels: side by side, or more than four as a table. */
export function Playground() {
  const { query: address } = useRoute();
  const [begun] = useState(() => begin(address));
  const [all, setAll] = useState(false);
  const [opened, setOpened] = useState<Opened>();
  const runs = useRuns();
  const inputs = useInputs(begun, (shared) => {
    runs.clear();
    link.forget();
    evaluation.show(shared.many);
    const listed = documentsOfText(shared.documents);
    const lanes = shared.results.map((lane) => [lane.key, laneOf(lane, shared.query, listed)]);
    runs.show(Object.fromEntries(lanes) as Runs['lanes']);
  });
  const link = useLink(inputs.put);
  const { query, documents, labels, ids, specs, options, file } = inputs;
  const evaluation = useEvaluation(options, begun.many);
  const names = useLaneNames(specs);
  const prices = usePrices(specs);
  const onRun =
    !link.reading && isWhole(inputs)
      ? () => void runs.run({ lanes: specs, query, documents, options, runs: Number(inputs.times) })
      : undefined;
  useRunKeys(onRun, runs);
  useDroppedFile(inputs.takeFile);

  const isJudged = evaluation.lanes.size > 0;
  const shared: Shared = {
    ...inputs.shared,
    ...(file.text === '' && !isJudged ? {} : { many: { ...file, queries: [], lanes: [] } }),
  };
  const measured = { ...file, queries: evaluation.queries, lanes: scoresOf(evaluation) };
  const withMany = shared.many === undefined ? {} : { many: measured };
  useEffect(
    () => keepDraft(PAGE, { ...shared, ...withMany }),
    [query, inputs.text, labels, ids, specs, options, inputs.times, file, evaluation.lanes],
  );
  const ranked = useRanked(inputs, names, runs);
  const many = useMany(opened === 'many' || isJudged);
  // Of what is typed into the fields above it, it shows nothing.
  const results = useMemo(
    () => <Results {...{ inputs, names, ranked, all }} lanes={runs.lanes} onAll={setAll} />,
    [specs, names, ranked, runs.lanes, labels, ids, all],
  );
  const close = (): void => setOpened(undefined);
  return (
    <div class="stack wide">
      <Head
        {...{ inputs, shared, ranked, all }}
        withResults={() => ({ ...shared, ...withMany, results: ranked.map(resultsOf) })}
        hasResults={ranked.length > 0 || isJudged}
        onOpen={setOpened}
      />
      <Fault of={link.fault} />
      <InputCard {...{ inputs, names, runs, onRun }} reading={link.reading} />
      {results}
      {many && isJudged && opened !== 'many' ? (
        <many.ManyResult
          {...{ specs, names, evaluation }}
          onRemove={() => evaluation.show(undefined)}
        />
      ) : null}
      {many && opened === 'many' ? (
        <many.ManyQueries
          {...{ specs, names, evaluation, file }}
          onFile={inputs.setFile}
          costOf={(one, listed) => costOf(prices, one, listed)}
          onClose={close}
        />
      ) : null}
      {opened === 'examples' ? (
        <Examples
          now={shared}
          onOpen={(example) => {
            close();
            inputs.put(example.lanes.length === 0 ? { ...example, lanes: specs } : example);
          }}
          onClose={close}
        />
      ) : null}
      {opened === 'code' ? (
        <LaneCode
          lanes={specs}
          names={names}
          bodyOf={(lane) => bodyOf(lane, query, documents, options)}
          onClose={close}
        />
      ) : null}
    </div>
  );
}

/** What is wrong with the link by which the page was opened. */
function Fault({ of: fault }: { readonly of: LinkFault | undefined }) {
  if (fault === undefined) return null;
  return (
    <p class="notice warn-bar" role="alert">
      {wp().playground.linkFaults[fault]}
    </p>
  );
}

/** Whether there is something to rank, and something to rank it with. */
function isWhole({ query, documents, specs }: Inputs): boolean {
  const { length } = documents;
  return query.trim() !== '' && length > 0 && length <= MAX_DOCUMENTS && specs.length > 0;
}

/** `Ctrl Enter` runs, `Esc` stops. */
function useRunKeys(onRun: (() => void) | undefined, runs: Runs): void {
  usePageKeys((event) => {
    if (document.querySelector('dialog[open]') !== null) return;
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      onRun?.();
    } else if (event.key === 'Escape' && runs.running) runs.abort();
  });
}

/** The lanes that have a ranking. */
function useRanked({ specs }: Inputs, names: readonly string[], { lanes }: Runs) {
  return useMemo(
    () =>
      specs.flatMap((spec, at): RankedLane[] => {
        const key = keyOf(spec);
        const lane = lanes[key];
        return lane?.state === 'ranked' ? [{ ...lane, key, name: names[at] ?? '' }] : [];
      }),
    [specs, names, lanes],
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
