import { useEffect, useState } from 'preact/hooks';
import { seesAll } from '../about.js';
import { trouble } from '../api/call.js';
import { queries, useRead } from '../api/query.js';
import { reload } from '../drafts.js';
import { Button, Link } from '../parts/buttons.js';
import { Moment } from '../parts/values.js';
import { useAtom } from '../state.js';
import { w } from '../words.js';
import { upgraded } from './chunks.js';

export const AGAIN_S = 3;

/** Notices for every page: the gateway or store does not answer, an upgrade, tags that are switched off. */
export function Bars() {
  const away = useAtom(trouble);
  const isUpgraded = useAtom(upgraded);
  const [left, setLeft] = useState(AGAIN_S);
  useEffect(() => {
    if (away === undefined) return undefined;
    let seconds = AGAIN_S;
    setLeft(seconds);
    const timer = setInterval(() => {
      seconds = seconds > 1 ? seconds - 1 : AGAIN_S;
      setLeft(seconds);
      if (seconds === AGAIN_S) void queries.invalidateQueries();
    }, 1_000);
    return () => {
      clearInterval(timer);
      void queries.invalidateQueries();
    };
  }, [away?.kind]);
  return (
    <>
      {away === undefined ? null : (
        <div class="bar bad-bar" role="alert">
          <span>
            <strong>
              {w().errors[away.kind === 'store' ? 'store_unavailable' : 'no_connection']}
            </strong>{' '}
            {w().shell.numbersOf} <Moment seconds={away.sinceMs / 1000} />.{' '}
            <span aria-hidden="true">{w().shell.tryingAgain(left)}</span>
          </span>
        </div>
      )}
      {isUpgraded ? (
        <div class="bar" role="status">
          <span>{w().shell.upgraded}</span>
          <Button onClick={reload}>{w().shell.reload}</Button>
        </div>
      ) : null}
      {seesAll() ? <TagBars /> : null}
    </>
  );
}

const TAGS_EVERY_MS = 15_000;

function TagBars() {
  const { data } = useRead('listTags', {}, { everyMs: TAGS_EVERY_MS });
  const off = (data ?? []).filter(({ disabled }) => disabled);
  if (off.length === 0) return null;
  return (
    <aside class="bar">
      <span class="warn" aria-hidden="true">
        ▲
      </span>
      <span class="grow wrap" role="status">
        {off.map(({ tag, changed_time, changed_by, reason }, index) => (
          <span key={tag}>
            {index === 0 ? '' : ' · '}
            <Link to={`tags?open=${encodeURIComponent(tag)}`}>{tag}</Link> {w().shell.isOff}{' '}
            <Moment seconds={changed_time} />
            {changed_by === null ? '' : ` · ${changed_by}`}
            {reason === null ? '' : `: ${reason}`}
          </span>
        ))}
      </span>
      <Link to="tags" class="button">
        {w().nav.tags}
      </Link>
    </aside>
  );
}
