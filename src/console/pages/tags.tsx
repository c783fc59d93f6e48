import { useEffect, useRef } from 'preact/hooks';
import { isAdmin } from '../about.js';
import { call, type ReplyOf } from '../api/call.js';
import { useRead, useWrite } from '../api/query.js';
import { dependsOn, type Dependence } from '../../core/depends.js';
import { someOf } from '../lib/format.js';
import { Button, Link } from '../parts/buttons.js';
import { ConfirmWrite, WriteFailed } from '../parts/confirm-write.js';
import { Consequence } from '../parts/consequence.js';
import { InForce, type How } from '../parts/in-force.js';
import { recordAddress } from '../parts/record.js';
import { NamedChannel, useTroubles, type TroubleOf } from '../parts/troubles.js';
import { Ago, State } from '../parts/values.js';
import { resource } from '../resource.js';
import { setQuery, useRoute } from '../router.js';
import { atom, useAtom } from '../state.js';
import { wp } from '../words.js';

type Tag = ReplyOf<'listTags'>[number];

const OFTEN = { everyMs: 5_000 };
/** tag-2 comes before tag-10. */
const COUNTING = new Intl.Collator(undefined, { numeric: true });
/** How the last switch of each tag took effect, while the page is open. */
const settled = atom<Readonly<Record<string, How>>>({});

function settle(tag: string, how: How): void {
  settled.set({ ...settled.get(), [tag]: how });
}

/** The switches, and what each would take down, shown before it is used. */
export const Tags = resource({
  kind: 'tag',
  filters: [],
  useList: () => {
    const tags = useRead('listTags', {}, OFTEN);
    const items = tags.data?.toSorted((one, other) => COUNTING.compare(one.tag, other.tag));
    const total = items?.length ?? 0;
    return { ...tags, data: items && { items, total, page: 1, page_size: total } };
  },
  useOne: (id) => {
    const tags = useRead('listTags', {}, OFTEN);
    return { ...tags, data: tags.data?.find(({ tag }) => tag === id) };
  },
  useMore: () => {
    const { data } = useRead('listChannelModels', {}, OFTEN);
    const dependenceOf = (tag: string) => data && dependsOn(tag, data);
    return { dependenceOf, troubleOf: useTroubles() };
  },
  idOf: ({ tag }: Tag) => tag,
  titleOf: ({ tag }: Tag) => tag,
  empty: () => ({ title: wp().tags.none, children: wp().tags.noneHelp }),
  Above: () => {
    useEffect(() => () => settled.set({}), []);
    return <p class="muted">{wp().tags.help}</p>;
  },
  Below: ({ rows, more: { dependenceOf } }) => {
    const asked = useRoute().query.get('off');
    const tag = rows.find((one) => one.tag === asked && !one.disabled);
    return tag === undefined || !isAdmin() ? null : (
      <SwitchOff tag={tag} dependence={dependenceOf(tag.tag)} />
    );
  },
  Card: ({ of: tag, more: { dependenceOf, troubleOf }, open }) => (
    <TagCard tag={tag} dependence={dependenceOf(tag.tag)} troubleOf={troubleOf} open={open} />
  ),
});

/** Asks before a tag is switched off, with what would follow. */
function SwitchOff({
  tag: { tag, live_count: live, channel_count: all, channels },
  dependence,
}: {
  readonly tag: Tag;
  readonly dependence: Dependence | undefined;
}) {
  return (
    <ConfirmWrite
      title={wp().tags.offTitle(tag)}
      action={wp().tags.off}
      typed={dependence === undefined || dependence.dark.length === 0 ? undefined : tag}
      needs={{ data: dependence, error: undefined }}
      write={(why) => call('disableTag', { body: { tag, ...why } })}
      onDone={(how) => settle(tag, how)}
      onClose={() => setQuery({ off: '' }, { replace: true })}
    >
      <p>{wp().tags.liveNow(live, all)}</p>
      <p class="muted">{someOf(channels.filter((one) => one.live).map(({ name }) => name))}</p>
      {dependence && <Consequence dependence={dependence} />}
    </ConfirmWrite>
  );
}

function TagCard({
  tag: entry,
  dependence,
  troubleOf,
  open,
}: {
  readonly tag: Tag;
  readonly dependence: Dependence | undefined;
  readonly troubleOf: TroubleOf;
  readonly open: boolean;
}) {
  const { tag, disabled, channels } = entry;
  const how = useAtom(settled)[tag];
  const enable = useWrite(async () => {
    settle(tag, await call('enableTag', { body: { tag } }));
  });
  // Not by disabling the button: it has the focus, and would lose it.
  const onOn = (): void => void (enable.busy || enable.run(undefined));
  const onOff = (): void => setQuery({ off: tag });
  const undo = useRef<HTMLSpanElement>(null);
  // Where the dialog was opened from is gone after a search, and the page has the focus: the way back is what comes next.
  useEffect(() => {
    if (how === undefined || document.activeElement?.contains(undo.current) !== true) return;
    undo.current?.querySelector('button')?.focus();
  }, [how?.version]);
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
        {isAdmin() ? (
          <span ref={undo}>
            <Button
              kind={disabled ? 'main' : 'plain'}
              label={`${disabled ? wp().tags.on : wp().tags.offAsk} ${tag}`}
              onClick={disabled ? onOn : onOff}
            >
              {disabled ? wp().tags.on : wp().tags.offAsk}
            </Button>
          </span>
        ) : null}
        <WriteFailed title={tag} of={enable} />
      </div>
      <Since of={entry} />
      {how === undefined ? null : <InForce key={how.version} how={how} />}
      {disabled || dependence === undefined ? null : <Consequence dependence={dependence} />}
      <details open={open}>
        <summary>{wp().counts.channels(channels.length)}</summary>
        <ul class="stack tight">
          {channels.map((channel) => (
            <li key={channel.id}>
              <NamedChannel channel={channel} trouble={troubleOf(channel)} />
            </li>
          ))}
        </ul>
      </details>
    </li>
  );
}

/** When it was switched last, by whom and why. */
function Since({ of: { disabled, changed_time: since, changed_by: by, reason } }: { of: Tag }) {
  if (since === 0) return null;
  return (
    <p class="muted">
      {disabled ? wp().tags.offSince : wp().tags.changed} <Ago seconds={since} />
      {by === null ? '' : ` · ${by}`}
      {reason === null ? '' : `: ${reason}`}
    </p>
  );
}
