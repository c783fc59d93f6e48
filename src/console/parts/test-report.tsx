import type { ReplyOf } from '../api/call.js';
import { duration, significant } from '../lib/format.js';
import { wp } from '../words.js';
import { Facts, type Fact } from './facts.js';
import { State } from './values.js';

type Tested = ReplyOf<'testChannel'>;

/** The result of testing a channel or a draft of one. */
export function TestReport({ tested }: { readonly tested: Tested }) {
  const words = wp().test;
  const { ok, order, problem, warnings } = tested;
  const took = duration(tested.latency_ms);
  return (
    <div class={ok ? 'notice ok-bar' : 'notice bad-bar'} role="status">
      <div class="grow stack tight">
        <strong>
          <State sign={ok ? (order === 'undecided' ? 'warn' : 'ok') : 'bad'}>
            {!ok
              ? words.fails
              : order === 'undecided'
                ? words.worksUndecided(took)
                : words.works(took)}
          </State>
        </strong>
        {problem === null ? null : (
          <p class="wrap">
            {words.helps[problem.code]} {problem.message} <code class="small">{problem.code}</code>
          </p>
        )}
        {warnings.map((warning) => (
          <p key={warning} class="warn wrap">
            {warning}
          </p>
        ))}
        <Facts small of={factsOf(tested)} />
      </div>
    </div>
  );
}

function factsOf(tested: Tested): readonly Fact[] {
  const words = wp().test;
  const {
    model,
    upstream_model: upstream,
    order,
    scores,
    score_scale: scale,
    url,
    status,
  } = tested;
  const used = words.usage(tested.usage.input_tokens, tested.usage.search_units);
  const named = (kind: string): string => words.scales[kind] ?? kind;
  return [
    [wp().kinds.model, model === upstream ? model : `${model} → ${upstream}`],
    [words.order, order && words.orders[order]],
    [words.scores, scores && words.scoresOf(significant(scores.right), significant(scores.other))],
    [
      words.scale,
      scale &&
        (scale.fits
          ? words.scaleFits(named(scale.expected))
          : words.scaleDiffers(named(scale.expected), named(scale.observed))),
    ],
    [words.used, used === '' ? undefined : used],
    [
      words.address,
      url && (
        <>
          <code>{url}</code>
          {status === null ? '' : ` → ${status}`}
        </>
      ),
    ],
  ];
}
