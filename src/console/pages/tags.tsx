import { isAdmin } from '../about.js';
import { useState } from 'preact/hooks';
import { call, type ReplyOf } from '../api/call.js';
import { useRead, useWrite } from '../api/query.js';
import { someOf } from '../lib/format.js';
import { dependsOn, type Dependence } from '../lib/depends.js';
import { Button, Link } from '../parts/buttons.js';
import { Empty, ErrorNotice, Skeleton } from '../parts/notices.js';
import { Ago, State } from '../parts/values.js';
import { Consequence } from '../parts/consequence.js';
import { Confirm } from '../parts/dialog.js';
import { InForce } from '../parts/in-force.js';
import { ListHead } from '../parts/list-head.js';
import { Missing, recordAddress, RecordHead } from '../parts/record.js';
import { setQuery, useRoute } from '../router.js';
import { w, wp } from '../words.js';

type Tag = ReplyOf<'listTags'>[number];
/** How the last switch of a tag took effect. */
type Settled = Pick<ReplyOf<'disableTag'>, 'version' | 'in_force' | 'nodes' | 'waited_ms'>;

const EVERY_MS = 5_000;
/** tag-2 comes before tag-10. */
const COUNTING = new Intl.Collator(undefined, { numeric: true });

/** The switches, and what each would take down, shown before it is used. */
export function Tags() {
  const { path, query } = useRoute();
  const [, only] = path;
  const tags = useRead('listTags', {}, { everyMs: EVERY_MS });
  const models = useRead('listChannelModels', {}, { everyMs: EVERY_MS });
  const [settled, setSettled] = useState<Readonly<Record<string, Settled>>>({});
  const shown = (tags.data ?? [])
    .filter(({ tag }) => only === undefined || tag === only)
    .sort((one, other) => COUNTING.compare(one.tag, other.tag));
  const asked = query.get('off');
  const asking = tags.data?.find(({ tag }) => tag === asked);
  const settle = (tag: string, how: Settled): void =>
    setSettled((before) => ({ ...before, [tag]: how }));
  const disable = useWrite(async ({ tag, reason }: { tag: string; reason: string }) => {
    settle(tag, await call('disableTag', { body: { tag, ...(reason === '' ? {} : { reason }) } }));
    return true;
  });
  const enable = useWrite(async (tag: string) => {
    settle(tag, await call('enableTag', { body: { tag } }));
    return true;
  });
  const dependence = (tag: string): Dependence => dependsOn(tag, models.data ?? []);
  const ask = (tag: string): void => setQuery({ off: tag });
  const close = (): void => setQuery({ off: '' }, { replace: true });
  return (
    <>
      {only === undefined ? (
        <ListHead title={w().nav.tags} total={tags.data?.length} />
      ) : (
        <RecordHead kind="tag" title={only} />
      )}
      <p class="muted">{wp().tags.help}</p>
      <ErrorNotice error={tags.error ?? models.error} onAgain={tags.again} />
      <ErrorNotice error={enable.error} />
      {tags.loading ? <Skeleton lines={6} /> : null}
      {only !== undefined && tags.data !== undefined && shown.length === 0 ? (
        <Missing kind="tag" id={only} />
      ) : null}
      {only === undefined && tags.data?.length === 0 ? (
        <div class="card">
          <Empty title={wp().tags.none}>{wp().tags.noneHelp}</Empty>
        </div>
      ) : null}
      <ul class="stack">
        {shown.map((tag) => (
          <TagCard
            key={tag.tag}
            tag={tag}
            dependence={dependence(tag.tag)}
            settled={settled[tag.tag]}
            open={[query.get('open'), only].includes(tag.tag)}
            onOff={() => ask(tag.tag)}
            onOn={() => {
              // Not by disabling the button: it has the focus, and would lose it.
              if (!enable.busy) void enable.run(tag.tag);
            }}
          />
        ))}
      </ul>
      {asking === undefined || asking.disabled || !isAdmin() ? null : (
        <Confirm
          title={wp().tags.offTitle(asking.tag)}
          action={wp().tags.off}
          typed={models.data === undefined ? undefined : dependence(asking.tag).dark[0]}
          busy={disable.busy || models.data === undefined}
          error={<ErrorNotice error={disable.error} />}
          onClose={close}
          onConfirm={(reason) =>
            void disable.run({ tag: asking.tag, reason }).then((done) => {
              if (done === true) close();
            })
          }
        >
          <p>{wp().tags.liveNow(asking.live_count, asking.channel_count)}</p>
          <p class="muted">
            {someOf(asking.channels.filter(({ live }) => live).map(({ name }) => name))}
          </p>
          <Consequence dependence={dependence(asking.tag)} />
        </Confirm>
      )}
    </>
  );
}

function TagCard({
  tag: entry,
  dependence,
  settled,
  open,
  onOff,
  onOn,
}: {
  readonly tag: Tag;
  readonly dependence: Dependence;
  readonly settled: Settled | undefined;
  readonly open: boolean;
  readonly onOff: () => void;
  readonly onOn: () => void;
}) {
  const { tag, disabled, changed_by: by, reason, changed_time: since, channels } = entry;
  return (
    <li class="card stack">
      <div class="row">
        <input
          type="checkbox"
          role="switch"
          class="switch"
          aria-label={wp().tags.switchOf(tag)}
          checked={!disabled}
          onClick={(event) => {
            event.preventDefault();
            if (disabled) onOn();
            else onOff();
          }}
        />
        <h2 class="wrap">
          <Link to={recordAddress('tag', tag)}>{tag}</Link>
        </h2>
        <State sign={disabled ? 'off' : entry.live_count === 0 ? 'warn' : 'ok'}>
          {disabled ? wp().tags.isOff : wp().tags.isOn}
        </State>
        <span class="muted">{wp().tags.liveOf(entry.live_count, entry.channel_count)}</span>
        <span class="grow" />
        {!isAdmin() ? null : disabled ? (
          <Button kind="main" label={`${wp().tags.on} ${tag}`} onClick={onOn}>
            {wp().tags.on}
          </Button>
        ) : (
          <Button label={`${wp().tags.offAsk} ${tag}`} onClick={onOff}>
            {wp().tags.offAsk}
          </Button>
        )}
      </div>
      {since === 0 ? null : (
        <p class="muted">
          {disabled ? wp().tags.offSince : wp().tags.changed} <Ago seconds={since} />
          {by === null ? '' : ` · ${by}`}
          {reason === null ? '' : `: ${reason}`}
        </p>
      )}
      {settled === undefined ? null : <InForce key={settled.version} how={settled} />}
      {disabled ? null : <Consequence dependence={dependence} />}
      <details open={open}>
        <summary>{wp().counts.channels(channels.length)}</summary>
        <ul class="stack tight">
          {channels.map(({ id, name, live }) => (
            <li key={id}>
              <State sign={live ? 'ok' : 'off'}>
                <Link to={`channels?open=${id}`}>{name}</Link>
              </State>
            </li>
          ))}
        </ul>
      </details>
    </li>
  );
}
