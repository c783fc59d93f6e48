import type { ReplyOf } from '../api/call.js';
import { duration, significant } from '../lib/format.js';
import { wp } from '../words.js';
import { State } from './values.js';

type Tested = ReplyOf<'testChannel'>;

/** The result of testing a channel or a draft of one. */
export function TestReport({ tested }: { readonly tested: Tested }) {
  const words = wp().test;
  const { ok, order, scores, score_scale: scale, url, status, problem, warnings, usage } = tested;
  const took = duration(tested.latency_ms);
  const used = words.usage(usage.input_tokens, usage.search_units);
  return (
    <div class={ok ? 'notice ok-bar' : 'notice bad-bar'} role="status">
      <div class="grow stack tight">
        <strong>
          <State sign={ok ? (order === 'undecided' ? 'warn' : 'ok') : 'bad'}>
            {ok
              ? order === 'undecided'
                ? words.worksUndecided(took)
                : words.works(took)
              : words.fails}
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
        <dl class="facts small">
          <dt>{wp().requests.model}</dt>
          <dd>
            {tested.model}
            {tested.model === tested.upstream_model ? '' : ` → ${tested.upstream_model}`}
          </dd>
          {order === null ? null : (
            <>
              <dt>{words.order}</dt>
              <dd>{words.orders[order]}</dd>
            </>
          )}
          {scores === null ? null : (
            <>
              <dt>{words.scores}</dt>
              <dd>{words.scoresOf(significant(scores.right), significant(scores.other))}</dd>
            </>
          )}
          {scale === null ? null : (
            <>
              <dt>{words.scale}</dt>
              <dd>
                {scale.fits
                  ? words.scaleFits(words.scales[scale.expected] ?? scale.expected)
                  : words.scaleDiffers(
                      words.scales[scale.expected] ?? scale.expected,
                      words.scales[scale.observed] ?? scale.observed,
                    )}
              </dd>
            </>
          )}
          {used === '' ? null : (
            <>
              <dt>{words.used}</dt>
              <dd>{used}</dd>
            </>
          )}
          {url === null ? null : (
            <>
              <dt>{words.address}</dt>
              <dd>
                <code>{url}</code>
                {status === null ? '' : ` → ${status}`}
              </dd>
            </>
          )}
        </dl>
      </div>
    </div>
  );
}
