import { useState } from 'preact/hooks';
import { call, type ReplyOf } from '../../api/call.js';
import { useWrite } from '../../api/query.js';
import { percent } from '../../lib/format.js';
import { tiersOf } from '../../lib/order.js';
import { Button } from '../../parts/buttons.js';
import { ErrorNotice } from '../../parts/notices.js';
import { NamedChannel, useTroubles } from '../../parts/troubles.js';
import { money, State } from '../../parts/values.js';
import { wp } from '../../words.js';

export type Serving = ReplyOf<'listChannelModels'>[number]['channels'];
type Explained = ReplyOf<'explainRoute'>;

/** What the gateway that answers would do with a request for the model right now. */
export function Explain({ model }: { readonly model: string }) {
  const [explained, setExplained] = useState<Explained>();
  const words = wp().models;
  const ask = useWrite(() => call('explainRoute', { body: { model } }));
  return (
    <div class="stack tight">
      <div class="row">
        <Button disabled={ask.busy} onClick={() => void ask.run(undefined).then(setExplained)}>
          {words.explain}
        </Button>
        <span class="muted small">{words.explainHelp}</span>
      </div>
      <ErrorNotice error={ask.error} />
      {explained === undefined ? null : (
        <div class="notice" role="status">
          <div class="grow stack tight">
            {explained.refusal === null ? (
              <p>{words.wouldCost(money(explained.cost.estimated))}</p>
            ) : (
              <p>
                <State sign="bad">
                  {words.refused(explained.refusal.status, explained.refusal.code)}
                </State>{' '}
                {explained.refusal.message}
              </p>
            )}
            <Ways of={explained} />
            {explained.fallbacks.map((fallback) => (
              <div key={fallback.model} class="stack tight">
                <p>{words.fallback(fallback.model)}</p>
                <Ways of={fallback} />
              </div>
            ))}
          </div>
        </div>
      )}
    </div>
  );
}

function Ways({
  of: { candidates, passed_over: passedOver },
}: {
  readonly of: Pick<Explained, 'candidates' | 'passed_over'>;
}) {
  const words = wp().models;
  return (
    <>
      {candidates.length === 0 ? null : <p class="muted">{words.tried}</p>}
      <ol class="ladder">
        {candidates.map(({ id, name, priority, chance }) => (
          <li key={id}>
            {name}{' '}
            <span class="muted">
              {words.tier(priority)} · {percent(chance)}
            </span>
          </li>
        ))}
      </ol>
      {passedOver.length === 0 ? null : <p class="muted">{words.passedOver}</p>}
      <ul class="stack tight">
        {passedOver.map(({ id, name, message }) => (
          <li key={id}>
            {name}: {message}
          </li>
        ))}
      </ul>
    </>
  );
}

/** Which channels are tried first and which next, and each one's share of the requests. */
export function Rungs({ channels, model }: { readonly channels: Serving; readonly model: string }) {
  const words = wp().models;
  const troubleOf = useTroubles();
  return (
    <ol class="stack tight">
      {tiersOf(channels).map(({ priority, rungs }) => (
        <li key={priority} class="stack tight">
          <span class="muted small">{words.tier(priority)}</span>
          <ul class="ladder">
            {rungs.map(({ channel, share }) => (
              <li key={channel.id}>
                <NamedChannel channel={channel} trouble={troubleOf(channel)} />
                <span class="muted">
                  {channel.live ? words.share(percent(share)) : ''}
                  {channel.upstream_model === model ? '' : ` → ${channel.upstream_model}`}
                </span>
              </li>
            ))}
          </ul>
        </li>
      ))}
    </ol>
  );
}
