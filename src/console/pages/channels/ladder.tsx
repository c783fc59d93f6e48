import type { ReplyOf } from '../../api/call.js';
import { tiersOf } from '../../lib/order.js';
import { wp } from '../../words.js';

export type Served = ReplyOf<'listChannelModels'>[number];

export function Already({
  names,
  served,
}: {
  readonly names: readonly string[];
  readonly served: readonly Served[];
}) {
  const both = served.filter(({ id }) => names.includes(id));
  if (both.length === 0) return null;
  return (
    <ul class="stack tight">
      {both.map(({ id, channels }) => (
        <li key={id} class="warn">
          {wp().wizard.already(id, channels.map(({ name }) => name).join(', '))}
        </li>
      ))}
    </ul>
  );
}

/** The order in which the channels of a model will be tried, including the new one. */
export function Ladder({
  served,
  model,
  fresh,
}: {
  readonly served: readonly Served[];
  readonly model: string;
  readonly fresh: { readonly name: string; readonly priority: number; readonly weight: number };
}) {
  const there = served.find(({ id }) => id === model)?.channels ?? [];
  const all = [...there, { ...fresh, id: 0, live: true }];
  return (
    <div class="stack tight">
      <p class="muted">{wp().wizard.order(model)}</p>
      <ol class="ladder">
        {tiersOf(all).map(({ priority, rungs }) => (
          <li key={priority}>
            <span class="muted">{priority}</span>{' '}
            {rungs.map(({ channel, share }) => (
              <span key={channel.id} class="chip">
                <span class="clip">
                  {channel.id === 0 ? <strong>{channel.name}</strong> : channel.name}{' '}
                  {channel.live ? `${Math.round(share * 100)} %` : wp().channels.states.off}
                </span>
              </span>
            ))}
          </li>
        ))}
      </ol>
    </div>
  );
}
