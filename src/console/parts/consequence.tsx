import type { Dependence } from '../../core/depends.js';
import { someOf } from '../lib/format.js';
import { lead } from '../lib/lead.js';
import { wp } from '../words.js';
import { State } from './values.js';

/** Which models a switch takes down, and which channels continue to serve the others. */
export function Consequence({
  dependence: { dark, elsewhere },
}: {
  readonly dependence: Dependence;
}) {
  if (dark.length === 0 && elsewhere.length === 0) return <p class="muted">{wp().tags.nothing}</p>;
  return (
    <div class="stack tight">
      {dark.length === 0 ? null : (
        <p>
          <span class="muted">{lead(wp().tags.dark)}</span>
          {dark.map((model) => (
            <span key={model}>
              <State sign="warn">{model}</State>{' '}
            </span>
          ))}
        </p>
      )}
      {elsewhere.length === 0 ? null : (
        <p>
          <span class="muted">{lead(wp().tags.elsewhere)}</span>
          {elsewhere
            .map(({ model, fallback, channels }) =>
              [model, ...(fallback === undefined ? [] : [fallback]), someOf(channels)].join(' → '),
            )
            .join(' · ')}
        </p>
      )}
    </div>
  );
}
