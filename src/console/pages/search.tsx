import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { isAdmin, seesAll } from '../about.js';
import { call } from '../api/call.js';
import { PAGES } from '../pages.js';
import { Dialog, type Closable } from '../parts/dialog.js';
import { navigate } from '../router.js';
import { w, wp } from '../words.js';

interface Hit {
  readonly group: string;
  readonly text: string;
  readonly more?: string;
  readonly to: string;
}

const PAUSE_MS = 180;
const MOST = 5;

/** One search for everything that has a name or an id; groups appear as they arrive. */
export function Search({ onClose }: Closable) {
  const [text, setText] = useState('');
  const [found, setFound] = useState<readonly Hit[]>([]);
  const request = requestNamed(text.trim());
  const hits = SURE_ID.test(text.trim()) ? [...request, ...found] : [...found, ...request];
  const [at, setAt] = useState(0);
  /** The text that everything has been looked through for. */
  const [searched, setSearched] = useState<string | undefined>('');
  const isSearching = searched !== text.trim();
  const enterWaits = useRef(false);

  // A layout effect, because Enter may follow the last letter at once.
  useLayoutEffect(() => {
    const wanted = text.trim();
    const pages = pagesNamed(wanted);
    setAt(0);
    enterWaits.current = false;
    if (wanted === '') {
      setFound(pages);
      setSearched(wanted);
      return undefined;
    }
    setFound([...pages, ...commandsNamed(wanted)]);
    setSearched(undefined);
    const stop = new AbortController();
    const timer = setTimeout(() => {
      const looks = lookUps(wanted, stop.signal).map((look) =>
        look.then(
          (more) => {
            if (!stop.signal.aborted) setFound((before) => [...before, ...more]);
          },
          (error: unknown) => {
            if (!stop.signal.aborted) console.info('a part of the search failed:', error);
          },
        ),
      );
      void Promise.all(looks).then(() => {
        if (!stop.signal.aborted) setSearched(wanted);
      });
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [text]);

  function open(hit: Hit | undefined): void {
    if (hit === undefined) return;
    onClose();
    navigate(hit.to);
    setTimeout(focusPage);
  }

  useLayoutEffect(() => {
    if (enterWaits.current) open(hits[0]);
  }, [hits.length]);

  let group = '';
  return (
    <Dialog title={w().shell.search} onClose={onClose}>
      <input
        class="input"
        role="combobox"
        aria-expanded="true"
        aria-controls="search-results"
        aria-activedescendant={hits.length === 0 ? undefined : `hit-${at}`}
        aria-label={w().shell.search}
        placeholder={wp().search.placeholder}
        value={text}
        autocomplete="off"
        spellcheck={false}
        autofocus
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
          if (step !== 0) {
            event.preventDefault();
            setAt((at + step + hits.length) % Math.max(1, hits.length));
          } else if (event.key === 'Enter') {
            event.preventDefault();
            enterWaits.current = hits.length === 0 && isSearching;
            open(hits[at]);
          }
        }}
      />
      <div class="search-results" id="search-results" role="listbox" aria-label={w().shell.search}>
        {hits.length === 0 ? (
          <p class="muted">{isSearching ? `${w().loading}…` : wp().search.none}</p>
        ) : null}
        {hits.map((hit, index) => {
          const heading = hit.group !== group;
          group = hit.group;
          return [
            heading ? (
              <h3 key={`group ${hit.group} ${index}`} role="presentation">
                {hit.group}
              </h3>
            ) : null,
            <div
              key={`${hit.to} ${index}`}
              id={`hit-${index}`}
              role="option"
              aria-selected={index === at}
              onMouseMove={() => setAt(index)}
              onClick={() => open(hit)}
            >
              <span class="clip">{hit.text}</span>
              {hit.more === undefined ? null : <span class="muted small clip">{hit.more}</span>}
            </div>,
          ];
        })}
      </div>
    </Dialog>
  );
}

/** Goes on in the page that was opened, once the search is gone, and unless a dialog has opened in it. */
function focusPage(): void {
  if (document.querySelector('dialog[open]') === null) document.getElementById('content')?.focus();
}

function pagesNamed(wanted: string): Hit[] {
  const group = w().shell.navigation;
  return PAGES.filter(({ admin }) => !admin || seesAll())
    .map(({ name, path }) => ({ group, text: w().nav[name], to: path === '' ? './' : path }))
    .filter(({ text }) => text.toLowerCase().includes(wanted.toLowerCase()));
}

/** Commands whose names contain the text. */
function commandsNamed(wanted: string): Hit[] {
  const group = wp().search.commands;
  const commands = [
    { text: wp().keys.new, to: 'keys?new=1', admin: false },
    { text: wp().channels.new, to: 'channels/new', admin: true },
    { text: wp().people.new, to: 'people?new=1', admin: true },
    { text: wp().codes.make, to: 'codes?new=1', admin: true },
  ];
  return commands
    .filter(
      ({ text, admin }) =>
        (!admin || isAdmin()) && text.toLowerCase().includes(wanted.toLowerCase()),
    )
    .map(({ text, to }) => ({ group, text, to }));
}

/** Ids as gateways make them; callers may send their own, which look like names. */
const SURE_ID = /^rr_|^[\da-f-]{16,}$/i;

/** Text that may be a request id leads straight to the request's page. */
function requestNamed(wanted: string): Hit[] {
  if (!/^[\w.:+/=@-]{8,128}$/.test(wanted) || wanted.startsWith('sk-')) return [];
  return [
    {
      group: wp().search.request,
      text: wanted,
      to: `requests/${encodeURIComponent(wanted)}`,
    },
  ];
}

/** Whose key it is. A whole key goes into a body alone, never into an address. */
function keyItself(key: string, signal: AbortSignal): Promise<Hit[]> {
  return call('findToken', { body: { key }, signal }).then(
    ({ id, name, key_hint }) => [
      { group: w().nav.keys, text: name, more: key_hint, to: `keys?open=${id}` },
    ],
    () => [],
  );
}

/** A tag by its name, and its switch by its name or by the words of the command, in any order. */
function hitsOfTag(tag: string, canSwitch: boolean, wanted: string): Hit[] {
  const { commands, switchTag } = wp().search;
  const isNamed = tag.toLowerCase().includes(wanted.toLowerCase());
  const text = switchTag(tag);
  const words = wanted.toLowerCase().split(/\s+/);
  const isMeant = words.every((word) => text.toLowerCase().includes(word));
  const name = encodeURIComponent(tag);
  return [
    ...(isNamed ? [{ group: w().nav.tags, text: tag, to: `tags?open=${name}` }] : []),
    ...(canSwitch && isMeant ? [{ group: commands, text, to: `tags?off=${name}` }] : []),
  ];
}

/** What a list has found, as hits of a group. */
async function hitsIn<T>(
  group: string,
  found: Promise<{ readonly items: readonly T[] }>,
  hitOf: (one: T) => Omit<Hit, 'group'>,
): Promise<Hit[]> {
  return (await found).items.map((one) => ({ group, ...hitOf(one) }));
}

function lookUps(wanted: string, signal: AbortSignal): Promise<Hit[]>[] {
  if (wanted.startsWith('sk-')) return [keyItself(wanted, signal)];
  const asked = { query: { keyword: wanted, page_size: MOST }, signal };
  const keys = hitsIn(w().nav.keys, call('searchTokens', asked), ({ id, name, key_hint }) => ({
    ...{ text: name, more: key_hint, to: `keys?open=${id}` },
  }));
  if (!seesAll()) return [keys];
  const contains = (name: string): boolean => name.toLowerCase().includes(wanted.toLowerCase());
  return [
    keys,
    hitsIn(w().nav.channels, call('searchChannels', asked), ({ id, name, provider }) => ({
      ...{ text: name, more: provider, to: `channels?open=${id}` },
    })),
    hitsIn(w().nav.people, call('searchUsers', asked), ({ id, username, email }) => ({
      ...{ text: username, more: email, to: `people?open=${id}` },
    })),
    hitsIn(w().nav.codes, call('searchRedemptionCodes', asked), ({ id, name, key_hint }) => ({
      ...{ text: name, more: key_hint, to: `codes?keyword=${id}` },
    })),
    call('listTags', { signal }).then((tags) =>
      tags
        .map(({ tag, disabled }) => hitsOfTag(tag, !disabled && isAdmin(), wanted))
        .filter(({ length }) => length > 0)
        .slice(0, MOST)
        .flat(),
    ),
    call('listChannelModels', { signal }).then((models) =>
      models
        .filter(({ id }) => contains(id))
        .slice(0, MOST)
        .map(({ id }) => ({
          ...{ group: w().nav.models, text: id },
          to: `models?model=${encodeURIComponent(id)}`,
        })),
    ),
  ];
}
