import { useEffect, useRef, useState } from 'preact/hooks';
import { kendallTauB, overlapAt, rankBiasedOverlap } from '../../core/agreement.js';
import { ndcg, reciprocalRank } from '../../core/evaluation.js';
import { about, isAdmin } from '../about.js';
import { ApiError, call, newKey, save, type ReplyOf } from '../api/call.js';
import { queries, useRead } from '../api/query.js';
import { aboutCost, aboutTokens } from '../lib/bill.js';
import { documentsOfFile, documentsOfText } from '../lib/documents-in.js';
import { duration, significant } from '../lib/format.js';
import { MAX_LINK, readShared, shareText } from '../lib/share.js';
import { EXAMPLE_BODY } from '../lib/snippets.js';
import {
  Button,
  Chip,
  Count,
  ErrorNotice,
  Link,
  Money,
  Segments,
  TextField,
  copyText,
  money,
} from '../parts/basic.js';
import { RequestCode } from '../parts/code.js';
import { Dialog } from '../parts/dialog.js';
import { toast } from '../parts/toast.js';
import { hrefOf, useFragment, useRoute } from '../router.js';
import { w } from '../words.js';

type Ranked = ReplyOf<'rankForComparison'>;

type Lane =
  | { readonly state: 'idle' }
  | { readonly state: 'running'; readonly sinceMs: number }
  | { readonly state: 'ranked'; readonly reply: Ranked; readonly documents: readonly string[] }
  | { readonly state: 'failed'; readonly error: ApiError };

const MAX_LANES = 4;
const FIRST_ROWS = 20;
const ROW_PX = 44;
const GAP_PX = 64;
const FAR = 3;

/** One query and one’s own documents, ranked by up to four models beside each other. */
export function Playground() {
  const fragment = useFragment();
  const route = useRoute();
  const [query, setQuery] = useState(EXAMPLE_BODY.query);
  const [text, setText] = useState(EXAMPLE_BODY.documents.join('\n'));
  const [models, setModels] = useState<readonly string[]>([
    route.query.get('model') ?? about.get()?.default_model ?? 'local',
  ]);
  const [adding, setAdding] = useState('');
  const [lanes, setLanes] = useState<Readonly<Record<string, Lane>>>({});
  const [bars, setBars] = useState<'raw' | 'share' | 'softmax'>('raw');
  const [farOnly, setFarOnly] = useState(false);
  const [all, setAll] = useState(false);
  const [lit, setLit] = useState<number>();
  const [opened, setOpened] = useState<number>();
  const [showingCode, setShowingCode] = useState(false);
  const [labels, setLabels] = useState<ReadonlyMap<string, number>>(new Map());
  const [problems, setProblems] = useState<readonly string[]>([]);
  const stop = useRef<AbortController | undefined>(undefined);
  const known = useRead('listChannelModels', {}, { enabled: isAdmin() });
  const documents = documentsOfText(text);

  useEffect(() => {
    if (fragment === '') return;
    void readShared(fragment).then((shared) => {
      if (shared === undefined) {
        toast(w().playground.badLink);
        return;
      }
      setQuery(shared.query);
      setText(shared.documents);
      setModels(shared.lanes.slice(0, MAX_LANES));
      setLanes({});
    });
  }, [fragment]);

  async function run(): Promise<void> {
    if (query.trim() === '' || documents.length === 0) return;
    stop.current?.abort();
    const controller = new AbortController();
    stop.current = controller;
    const put = (model: string, lane: Lane): void => {
      if (stop.current === controller) setLanes((before) => ({ ...before, [model]: lane }));
    };
    await Promise.all(
      models.map(async (model) => {
        put(model, { state: 'running', sinceMs: Date.now() });
        try {
          const reply = await call('rankForComparison', {
            body: { query, documents, model },
            key: newKey(),
            signal: controller.signal,
          });
          put(model, { state: 'ranked', reply, documents });
        } catch (error) {
          if (controller.signal.aborted) put(model, { state: 'idle' });
          else if (error instanceof ApiError) put(model, { state: 'failed', error });
          else throw error;
        }
      }),
    );
    await queries.invalidateQueries();
  }

  function abort(): void {
    const controller = stop.current;
    controller?.abort();
    setLanes((before) =>
      Object.fromEntries(
        Object.entries(before).map(([model, lane]) => [
          model,
          lane.state === 'running' ? { state: 'idle' } : lane,
        ]),
      ),
    );
  }

  function add(model: string): void {
    const name = model.trim();
    if (name === '' || models.includes(name) || models.length >= MAX_LANES) return;
    setModels([...models, name]);
    setAdding('');
  }

  async function take(file: File | undefined): Promise<void> {
    if (file === undefined) return;
    const bytes = await file.arrayBuffer();
    const read = documentsOfFile(file.name, decode(bytes));
    setProblems(read.problems.slice(0, 20));
    if (read.query !== undefined) setQuery(read.query);
    if (read.documents.length > 0) {
      const texts = read.documents.map((one) => one.replace(/\n\s*\n/g, '\n').trim());
      const several = texts.some((one) => one.includes('\n'));
      setText(texts.join(several ? '\n\n' : '\n'));
      setLabels(
        new Map(
          texts.flatMap((one, index) => {
            const label = read.labels[index];
            return label === undefined ? [] : [[one, label] as const];
          }),
        ),
      );
    }
  }

  async function share(): Promise<void> {
    const link = await shareText({ query, documents: text, lanes: models });
    if (link.length > MAX_LINK) {
      toast(w().playground.tooLong);
      return;
    }
    await copyText(`${location.origin}${hrefOf('playground')}#${link}`);
  }

  const running = Object.values(lanes).some(({ state }) => state === 'running');
  const ranked = models.flatMap((model) => {
    const lane = lanes[model];
    return lane?.state === 'ranked' ? [{ model, ...lane }] : [];
  });
  const shown = all ? Infinity : FIRST_ROWS;
  return (
    <div
      class="stack wide"
      onKeyDown={(event) => {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
          event.preventDefault();
          void run();
        } else if (event.key === 'Escape' && running) abort();
      }}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        void take(event.dataTransfer?.files[0]);
      }}
    >
      <div class="head">
        <h1>{w().nav.playground}</h1>
        <Button onClick={() => void share()}>{w().playground.share}</Button>
        <Button onClick={() => setShowingCode(true)}>{w().playground.copyAs}</Button>
        <Button
          disabled={ranked.length === 0}
          onClick={() => save('rankings.csv', new Blob([csvOf(ranked)], { type: 'text/csv' }))}
        >
          {w().csv}
        </Button>
      </div>
      <section class="card stack">
        <TextField label={w().playground.query} value={query} onInput={setQuery} />
        <TextField
          label={w().playground.documents(documents.length)}
          help={w().playground.documentsHelp}
          value={text}
          onInput={setText}
          rows={Math.min(12, Math.max(4, documents.length + 1))}
        />
        <div class="row">
          <label class="button">
            {w().playground.file}
            <input
              class="hidden"
              type="file"
              accept=".txt,.csv,.tsv,.json,.jsonl,.ndjson"
              onChange={(event) => {
                void take(event.currentTarget.files?.[0]);
                event.currentTarget.value = '';
              }}
            />
          </label>
          <Bill models={models} query={query} documents={documents} />
          {problems.length === 0 ? null : (
            <span class="warn small">{w().playground.problems(problems.join('; '))}</span>
          )}
        </div>
        <div class="row">
          <span class="muted">{w().playground.lanes}</span>
          {models.map((model) => (
            <Chip key={model} onRemove={() => setModels(models.filter((one) => one !== model))}>
              {model}
            </Chip>
          ))}
          {models.length < MAX_LANES ? (
            <form
              class="row tight"
              onSubmit={(event) => {
                event.preventDefault();
                add(adding);
              }}
            >
              <input
                class="input filter"
                aria-label={w().playground.addLane}
                placeholder={w().playground.addLane}
                list="playground-models"
                value={adding}
                onInput={(event) => {
                  const { value } = event.currentTarget;
                  if (known.data?.some(({ id }) => id === value) === true) add(value);
                  else setAdding(value);
                }}
              />
              <datalist id="playground-models">
                {known.data?.map(({ id }) => (
                  <option key={id} value={id} />
                ))}
              </datalist>
              <Button type="submit" label={w().playground.addLane}>
                +
              </Button>
            </form>
          ) : null}
          <span class="grow" />
          {running ? (
            <Button onClick={abort}>{w().playground.stop}</Button>
          ) : (
            <Button
              kind="main"
              disabled={documents.length === 0 || query.trim() === '' || models.length === 0}
              onClick={() => void run()}
            >
              {w().playground.run} <kbd>Ctrl ⏎</kbd>
            </Button>
          )}
        </div>
      </section>
      {ranked.length === 0 ? null : (
        <div class="row">
          <Segments
            label={w().playground.bars}
            value={bars}
            choices={(['raw', 'share', 'softmax'] as const).map((value) => ({
              value,
              label: w().playground.barKinds[value],
            }))}
            onChange={setBars}
          />
          <label class="check">
            <input
              type="checkbox"
              checked={farOnly}
              onChange={(event) => setFarOnly(event.currentTarget.checked)}
            />
            {w().playground.farOnly}
          </label>
          {documents.length > FIRST_ROWS ? (
            <Button kind="quiet" onClick={() => setAll(!all)}>
              {all ? w().playground.first(FIRST_ROWS) : w().playground.all(documents.length)}
            </Button>
          ) : null}
          {ranked.length > 1 ? (
            <span class="muted small">{w().playground.notComparable}</span>
          ) : null}
        </div>
      )}
      {[...new Set(ranked.flatMap(({ reply }) => reply.warnings))].map((warning) => (
        <p class="notice warn-bar small" key={warning}>
          {warning}
        </p>
      ))}
      <div class="lanes">
        {models.map((model, at) => {
          const lane = lanes[model] ?? { state: 'idle' };
          const before = models[at - 1];
          const left = before === undefined ? undefined : lanes[before];
          return [
            at === 0 ? null : (
              <div class="gap" key={`${model} gap`} aria-hidden="true">
                {left?.state === 'ranked' && lane.state === 'ranked' ? (
                  <Slopes
                    left={left.reply.results.slice(0, shown).map(({ index }) => index)}
                    right={lane.reply.results.slice(0, shown).map(({ index }) => index)}
                    farOnly={farOnly}
                    lit={lit}
                  />
                ) : null}
              </div>
            ),
            <LaneColumn
              key={model}
              model={model}
              lane={lane}
              bars={bars}
              shown={shown}
              lit={lit}
              reference={at === 0 || ranked[0]?.model === model ? undefined : ranked[0]?.reply}
              onLight={setLit}
              onOpen={setOpened}
            />,
          ];
        })}
      </div>
      {ranked.length > 1 ? <Agreement lanes={ranked} /> : null}
      {ranked.length > 0 && labels.size > 0 ? <Quality lanes={ranked} labels={labels} /> : null}
      {showingCode ? (
        <Dialog title={w().playground.copyAs} kind="wide" onClose={() => setShowingCode(false)}>
          <p class="muted">{w().playground.copyHelp}</p>
          <RequestCode body={{ model: models[0] ?? '', query, documents }} />
        </Dialog>
      ) : null}
      {opened === undefined ? null : (
        <Dialog
          title={w().playground.document(opened + 1)}
          kind="drawer"
          onClose={() => setOpened(undefined)}
        >
          <p class="wrap document">{ranked[0]?.documents[opened] ?? documents[opened]}</p>
          <LabelOf
            text={ranked[0]?.documents[opened] ?? documents[opened] ?? ''}
            labels={labels}
            onChange={setLabels}
          />
          <dl class="facts">
            {ranked.map(({ model, reply }) => {
              const rank = reply.results.findIndex(({ index }) => index === opened);
              return [
                <dt key={model}>{model}</dt>,
                <dd key={`${model} rank`}>
                  {rank < 0
                    ? '–'
                    : `${rank + 1} · ${significant(reply.results[rank]?.relevance_score ?? 0)}`}
                </dd>,
              ];
            })}
          </dl>
        </Dialog>
      )}
    </div>
  );
}

/** What a run costs, before it is made: as far as the prices of all lanes are known. */
function Bill({
  models,
  query,
  documents,
}: {
  readonly models: readonly string[];
  readonly query: string;
  readonly documents: readonly string[];
}) {
  const { data } = useRead('listOwnModels');
  const prices = models.map((name) => {
    const model = name.replace(/@[^@]*$/, '');
    return data?.find(({ id, aliases }) =>
      [id, ...aliases].some((one) => one === name || one === model),
    )?.price;
  });
  const known = prices.filter((price) => price !== undefined);
  if (known.length === 0 || documents.length === 0) return null;
  const units = known.reduce((sum, price) => sum + aboutCost(price, query, documents), 0);
  const cost = money(units);
  return (
    <span class="muted small">
      {w().playground.bill(
        aboutTokens(documents),
        known.length === models.length ? cost : `≥ ${cost}`,
      )}
    </span>
  );
}

const GRADES = ['', '0', '1', '2', '3'] as const;

/** How relevant a document is, as somebody says who knows. */
function LabelOf({
  text,
  labels,
  onChange,
}: {
  readonly text: string;
  readonly labels: ReadonlyMap<string, number>;
  readonly onChange: (labels: ReadonlyMap<string, number>) => void;
}) {
  const grade = GRADES.find((one) => one !== '' && Number(one) === labels.get(text)) ?? '';
  return (
    <div class="stack tight">
      <Segments
        label={w().playground.relevance}
        value={grade}
        choices={GRADES.map((value) => ({ value, label: value === '' ? '–' : value }))}
        onChange={(value) => {
          const next = new Map(labels);
          if (value === '') next.delete(text);
          else next.set(text, Number(value));
          onChange(next);
        }}
      />
      <p class="small muted">{w().playground.relevanceHelp}</p>
    </div>
  );
}

/** How good each order is by the labels; a document without one counts as not relevant. */
function Quality({
  lanes,
  labels,
}: {
  readonly lanes: readonly {
    readonly model: string;
    readonly reply: Ranked;
    readonly documents: readonly string[];
  }[];
  readonly labels: ReadonlyMap<string, number>;
}) {
  const words = w().playground;
  const told = (value: number | undefined): string => value?.toFixed(3) ?? '–';
  return (
    <section class="card stack">
      <h2>{words.quality}</h2>
      <div class="tablebox" role="region" aria-label={words.quality} tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">{w().requests.model}</th>
              {['nDCG@10', 'MRR', 'P@1'].map((name) => (
                <th key={name} class="num" scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {lanes.map(({ model, reply, documents }) => {
              const relevance = documents.map((text) => labels.get(text) ?? 0);
              const order = reply.results.map(({ index }) => index);
              const first = relevance[order[0] ?? -1] ?? 0;
              return (
                <tr key={model}>
                  <th scope="row">{model}</th>
                  <td class="num">{told(ndcg(order, relevance, 10))}</td>
                  <td class="num">{told(reciprocalRank(order, relevance))}</td>
                  <td class="num">{first > 0 ? '1' : '0'}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </section>
  );
}

/** UTF-8 by its mark or as it stands, else what Chinese programs write. */
function decode(bytes: ArrayBuffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    console.info('no UTF-8:', error);
    return new TextDecoder('gb18030').decode(bytes);
  }
}

function LaneColumn({
  model,
  lane,
  bars,
  shown,
  lit,
  reference,
  onLight,
  onOpen,
}: {
  readonly model: string;
  readonly lane: Lane;
  readonly bars: 'raw' | 'share' | 'softmax';
  readonly shown: number;
  readonly lit: number | undefined;
  readonly reference: Ranked | undefined;
  readonly onLight: (index: number | undefined) => void;
  readonly onOpen: (index: number) => void;
}) {
  const { playground: words } = w();
  const reply = lane.state === 'ranked' ? lane.reply : undefined;
  const scores = reply?.results.map(({ relevance_score: score }) => score) ?? [];
  const widths = widthsOf(scores, bars);
  return (
    <section class="lane" aria-label={model}>
      <header>
        <h2 class="clip" title={model}>
          {model}
        </h2>
        <p class="muted small clip">
          {reply === undefined ? (
            lane.state === 'running' ? (
              words.running
            ) : lane.state === 'failed' ? (
              <span class="bad">{lane.error.code}</span>
            ) : (
              words.notRun
            )
          ) : (
            <>
              {duration(reply.timing.total_ms)} · <Money units={reply.quota} /> ·{' '}
              <Count value={reply.usage.input_tokens} /> {words.tokens}
              {reply.usage.estimated ? ` (${words.estimated})` : ''}
              {reply.channel === null ? null : (
                <>
                  {' '}
                  · <Link to={`requests/${reply.request_id}`}>{reply.channel.name}</Link>
                </>
              )}
            </>
          )}
        </p>
      </header>
      {lane.state === 'failed' ? (
        <>
          <ErrorNotice error={lane.error} />
        </>
      ) : null}
      <ol>
        {reply?.results.slice(0, shown).map(({ index, relevance_score: score }, rank) => {
          const before = reference?.results.findIndex((row) => row.index === index) ?? -1;
          const moved = before < 0 ? undefined : before - rank;
          const isTie = scores[rank - 1] === score || scores[rank + 1] === score;
          const text = lane.state === 'ranked' ? (lane.documents[index] ?? '') : '';
          return (
            <li
              key={index}
              class={lit === undefined ? 'rank' : lit === index ? 'rank lit' : 'rank faded'}
            >
              <button
                type="button"
                onClick={() => onOpen(index)}
                onMouseEnter={() => onLight(index)}
                onMouseLeave={() => onLight(undefined)}
                onFocus={() => onLight(index)}
                onBlur={() => onLight(undefined)}
              >
                <span class="place num">{rank + 1}</span>
                <span class="words">
                  <span class="clip">{text}</span>
                  <span class="meter-line" aria-hidden="true">
                    <i style={{ width: `${(widths[rank] ?? 0) * 100}%` }} />
                  </span>
                </span>
                <span class="score num">
                  {significant(score)}
                  <span class="small muted">
                    {moved === undefined
                      ? ''
                      : moved === 0
                        ? '='
                        : moved > 0
                          ? `▲${moved}`
                          : `▼${-moved}`}
                    {isTie ? ` ${words.tie}` : ''}
                  </span>
                </span>
                {before < 0 ? null : <span class="hidden">{words.inReference(before + 1)}</span>}
              </button>
            </li>
          );
        })}
      </ol>
    </section>
  );
}

/** Bars begin at zero and end at the lane’s best: scores of two models cannot be compared. */
function widthsOf(scores: readonly number[], kind: 'raw' | 'share' | 'softmax'): number[] {
  const best = Math.max(...scores);
  if (kind === 'softmax') {
    const powers = scores.map((score) => Math.exp(score - best));
    const sum = powers.reduce((total, power) => total + power, 0);
    return powers.map((power) => power / sum);
  }
  const least = kind === 'share' ? Math.min(...scores, 0) : 0;
  const span = Math.max(...scores.map((score) => Math.abs(score - least)), Number.EPSILON);
  return scores.map((score) => Math.min(1, Math.abs(score - least) / span));
}

/** Lines between the places of each document in two neighbours. */
function Slopes({
  left,
  right,
  farOnly,
  lit,
}: {
  readonly left: readonly number[];
  readonly right: readonly number[];
  readonly farOnly: boolean;
  readonly lit: number | undefined;
}) {
  const height = Math.max(left.length, right.length) * ROW_PX;
  const places = new Map(right.map((index, rank) => [index, rank]));
  const middle = (rank: number): number => rank * ROW_PX + ROW_PX / 2;
  return (
    <svg viewBox={`0 0 ${GAP_PX} ${height}`} height={height} preserveAspectRatio="none">
      {left.map((index, from) => {
        const to = places.get(index);
        if (to === undefined || (farOnly && Math.abs(to - from) < FAR)) return null;
        const kind = to < from ? 'up' : to > from ? 'down' : 'same';
        const focus = lit === undefined ? '' : lit === index ? ' lit' : ' faded';
        return (
          <path
            key={index}
            class={`${kind}${focus}`}
            d={`M0 ${middle(from)} C ${GAP_PX / 2} ${middle(from)} ${GAP_PX / 2} ${middle(to)} ${GAP_PX} ${middle(to)}`}
          />
        );
      })}
    </svg>
  );
}

function Agreement({
  lanes,
}: {
  readonly lanes: readonly { readonly model: string; readonly reply: Ranked }[];
}) {
  const [kind, setKind] = useState<'tau' | 'rbo' | 'top3' | 'top10'>('tau');
  const { playground: words } = w();
  const value = (a: Ranked, b: Ranked): number | undefined => {
    const [first, second] = [a, b].map(({ results }) => results.map(({ index }) => index)) as [
      number[],
      number[],
    ];
    if (kind === 'rbo') return rankBiasedOverlap(first, second);
    if (kind !== 'tau') return overlapAt(kind === 'top3' ? 3 : 10, first, second);
    const scores = new Map(b.results.map(({ index, relevance_score }) => [index, relevance_score]));
    const both = a.results.filter(({ index }) => scores.has(index));
    return kendallTauB(
      both.map(({ relevance_score }) => relevance_score),
      both.map(({ index }) => scores.get(index) ?? 0),
    );
  };
  return (
    <div class="halves">
      <section class="card stack">
        <div class="row apart">
          <h2>{words.agreement}</h2>
          <Segments
            label={words.agreement}
            value={kind}
            choices={[
              { value: 'tau', label: 'tau-b' },
              { value: 'rbo', label: 'RBO' },
              { value: 'top3', label: '@3' },
              { value: 'top10', label: '@10' },
            ]}
            onChange={setKind}
          />
        </div>
        <div class="tablebox" role="region" aria-label={words.agreement} tabIndex={0}>
          <table>
            <thead>
              <tr>
                <th scope="col">
                  <span class="hidden">{w().nav.models}</span>
                </th>
                {lanes.map(({ model }) => (
                  <th class="num" scope="col" key={model}>
                    {model}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {lanes.map((row) => (
                <tr key={row.model}>
                  <th scope="row">{row.model}</th>
                  {lanes.map((column) => {
                    const shown = row === column ? undefined : value(row.reply, column.reply);
                    return (
                      <td class="num" key={column.model}>
                        {shown === undefined ? '–' : shown.toFixed(2)}
                      </td>
                    );
                  })}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
        <p class="muted small">{words.agreementHelp[kind]}</p>
      </section>
      <section class="card stack">
        <h2>{words.costs}</h2>
        <div class="tablebox" role="region" aria-label={words.costs} tabIndex={0}>
          <table>
            <thead>
              <tr>
                <th scope="col">{w().requests.model}</th>
                <th class="num" scope="col">
                  {w().requests.duration}
                </th>
                <th class="num" scope="col">
                  {w().requests.upstream}
                </th>
                <th class="num" scope="col">
                  {w().requests.cost}
                </th>
                <th class="num" scope="col">
                  {words.perThousand}
                </th>
              </tr>
            </thead>
            <tbody>
              {lanes.map(({ model, reply }) => (
                <tr key={model}>
                  <th scope="row">{model}</th>
                  <td class="num">{duration(reply.timing.total_ms)}</td>
                  <td class="num">{duration(reply.timing.upstream_ms)}</td>
                  <td class="num">{money(reply.quota)}</td>
                  <td class="num">{money(reply.quota * 1_000)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </section>
    </div>
  );
}

function csvOf(
  lanes: readonly {
    readonly model: string;
    readonly reply: Ranked;
    readonly documents: readonly string[];
  }[],
): string {
  // A cell that a spreadsheet would take for a formula begins with a quote.
  const cell = (value: string | number): string =>
    typeof value === 'number'
      ? String(value)
      : `"${(/^[=+\-@\t\r]/.test(value) ? `'${value}` : value).replaceAll('"', '""')}"`;
  const documents = lanes[0]?.documents ?? [];
  const head = [
    'document',
    'text',
    ...lanes.flatMap(({ model }) => [`${model} rank`, `${model} score`]),
  ];
  const rows = documents.map((text, index) => [
    index + 1,
    text,
    ...lanes.flatMap(({ reply }) => {
      const rank = reply.results.findIndex((row) => row.index === index);
      return rank < 0 ? ['', ''] : [rank + 1, reply.results[rank]?.relevance_score ?? ''];
    }),
  ]);
  return [head, ...rows].map((row) => row.map(cell).join(',')).join('\r\n');
}
