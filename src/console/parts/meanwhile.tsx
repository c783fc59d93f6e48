import type { ApiError } from '../api/call.js';
import { w, wp } from '../words.js';
import { Button } from './buttons.js';
import { ValueHead } from './member-value.js';

/** What there is now, as the refusal of a change has it that was refused because somebody else was faster. */
export function presentOf(error: ApiError | undefined): unknown {
  const isLate = error?.code === 'conflict' && error.param === 'if_revision';
  return isLate ? error.body.data : undefined;
}

/** What a form holds, field by field, for people to compare. */
export type Comparable = Readonly<Record<string, string>>;

/**
 * What somebody else has written while a form was open, beside what was typed, field by field: one of the two is kept.
 */
export function Meanwhile<T>({
  now,
  theirs,
  mine,
  labels,
  onKeep,
  onTake,
}: {
  /** The thing as it is now. */
  readonly now: T;
  readonly theirs: (now: T) => Comparable;
  readonly mine: Comparable;
  readonly labels: Readonly<Record<string, string>>;
  readonly onKeep: (now: T) => void;
  readonly onTake: (now: T) => void;
}) {
  const words = wp().meanwhile;
  const written = theirs(now);
  const differing = Object.keys(mine).filter((name) => mine[name] !== written[name]);
  return (
    <section class="notice warn-bar stack" role="alert" aria-label={words.title}>
      <strong>{words.title}</strong>
      {differing.length === 0 ? (
        <p>{words.nothing}</p>
      ) : (
        <>
          <p>{words.help}</p>
          <table class="plain">
            <ValueHead titles={[words.field, words.theirs, words.mine]} />
            <tbody>
              {differing.map((name) => (
                <tr key={name}>
                  <th scope="row">{labels[name] ?? name}</th>
                  <td class="wrap">{shown(written[name])}</td>
                  <td class="wrap">{shown(mine[name])}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
      <div class="row">
        <Button onClick={() => onTake(now)}>{words.takeTheirs}</Button>
        <Button kind="main" onClick={() => onKeep(now)}>
          {words.keepMine}
        </Button>
      </div>
    </section>
  );
}

function shown(value: string | undefined): string {
  return value === undefined || value === '' ? w().none : value;
}
