import type { ReplyOf } from '../api/call.js';
import { useWrite, type Reading } from '../api/query.js';
import { browserOf } from '../lib/browser.js';
import { wp } from '../words.js';
import { Button, Chip } from './buttons.js';
import { ErrorNotice, Skeleton } from './notices.js';
import { Ago } from './values.js';

type Sessions = ReplyOf<'listSessions'>;

/** The logins of an account, each with a button to end it. */
export function LoginList({
  reading: { data, error, again },
  end,
}: {
  readonly reading: Reading<Sessions>;
  readonly end: (id: string) => Promise<unknown>;
}) {
  const ending = useWrite(end);
  if (error !== undefined) return <ErrorNotice error={error} onAgain={again} />;
  if (data === undefined) return <Skeleton />;
  const words = wp().logins;
  return (
    <>
      {data.length === 0 ? <p class="muted">{words.none}</p> : null}
      <div role="list" class="stack">
        {data.map(({ id, kind, created_time, used_time, address, agent, current }) => (
          <div key={id} role="listitem" class="row apart">
            <span class="stack tight">
              <span title={agent ?? ''}>
                {agent === null ? words.kinds[kind] : `${words.kinds[kind]} · ${browserOf(agent)}`}
                {address === null ? '' : ` · ${words.from} ${address}`}
              </span>
              <span class="muted small">
                {words.since} <Ago seconds={created_time} /> · {words.used}{' '}
                <Ago seconds={used_time} />
              </span>
            </span>
            {current ? (
              <Chip>{words.current}</Chip>
            ) : (
              <Button disabled={ending.busy} onClick={() => void ending.run(id)}>
                {words.end}
              </Button>
            )}
          </div>
        ))}
      </div>
      <ErrorNotice error={ending.error} />
    </>
  );
}
