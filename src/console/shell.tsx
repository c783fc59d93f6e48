import type { ComponentChild, ComponentType } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { about, aboutFailed, seesAll, readAbout } from './about.js';
import { actAs, call, loginIsOver, trouble } from './api/call.js';
import { queries, reread, useRead } from './api/query.js';
import { Brand } from './brand.js';
import { Icon } from './icons.js';
import { nameOf, PAGES, pageOf, type Page } from './pages.js';
import { goOn, Login, LoginAgain } from './pages/login.js';
import { Button, Link, copyText } from './parts/buttons.js';
import { Skeleton } from './parts/notices.js';
import { Moment } from './parts/values.js';
import { isTyping, usePageKeys } from './parts/keys.js';
import { Toasts } from './parts/toast.js';
import { forgetDrafts, reload } from './drafts.js';
import { hrefOf, KEEPING, navigate, useRoute } from './router.js';
import { changeSettings, settings } from './settings.js';
import { atom, useAtom } from './state.js';
import { hearTabs, tellTabs } from './tabs.js';
import { w, withWords } from './words.js';

const NoRights = lazy(
  async () => (await withWords(import('./pages/no-rights.js'))).NoRights,
  ChunkGone,
);
type Closable = ComponentType<{ readonly onClose: () => void }>;

async function loadSearch(): Promise<Closable> {
  return (await withWords(import('./pages/search.js'))).Search;
}

const KeysHelp = lazy(
  async () => (await withWords(import('./pages/keys-help.js'))).KeysHelp,
  () => null,
);

function outside(name: 'Register' | 'Forgot' | 'Reset'): ComponentType {
  return lazy(async () => (await import('./pages/outside.js'))[name], OutsideGone);
}

function OutsideGone() {
  return (
    <main class="gate">
      <ChunkGone />
    </main>
  );
}

type Chunk = { readonly page: ComponentType } | { readonly failed: true } | undefined;

const PUBLIC: Readonly<Record<string, ComponentType>> = {
  login: Login,
  register: outside('Register'),
  forgot: outside('Forgot'),
  reset: outside('Reset'),
};

/** Whether the page is from a different build than the gateway that answers. */
const upgraded = atom(false);
const searching = atom(false);
const showingKeys = atom(false);
const ABOUT_EVERY_MS = 60_000;
const BUILD = document.querySelector<HTMLMetaElement>('meta[name=build]')?.content ?? '';

export function Shell() {
  const known = useAtom(about);
  const { path } = useRoute();
  const over = useAtom(loginIsOver);
  const first = path[0] ?? '';
  const Public = PUBLIC[first];
  const isIn = known?.self !== null && known !== undefined;

  useEffect(() => {
    const read = (): void => {
      readAbout().then(
        ({ builds }) => {
          // As long as one gateway serves this page, an upgrade is not over, and another page may be as old.
          if (builds.length > 0 && !builds.includes(BUILD)) upgraded.set(true);
        },
        // The bar already says that the gateway does not answer; the next round tries again.
        () => undefined,
      );
    };
    const timer = setInterval(() => {
      if (!document.hidden || trouble.get() !== undefined) read();
    }, ABOUT_EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  useEffect(
    () =>
      hearTabs((news) => {
        if (news.kind === 'logout') about.set(withoutSelf());
        else if (about.get()?.self?.id !== news.userId) void followLogin();
      }),
    [],
  );
  useEffect(() => {
    if (known === undefined || isIn || Public !== undefined) return;
    const to = (location.pathname + location.search).slice(hrefOf('./').length);
    navigate(to === '' ? 'login' : `login?to=${encodeURIComponent(to)}`, KEEPING);
  }, [known, isIn, first]);

  const content =
    Public !== undefined ? (
      <Public />
    ) : known === undefined ? (
      <NoGateway />
    ) : isIn ? (
      <Frame />
    ) : null;
  return (
    <>
      {content}
      {over ? <LoginAgain /> : null}
      <Toasts />
    </>
  );
}

/** Somebody has logged in in another tab: a tab in which nobody was goes on as they do. */
async function followLogin(): Promise<void> {
  const somebody = about.get()?.self != null;
  const known = await readAbout().catch(() => undefined);
  if (somebody || known?.self == null) return;
  actAs(known.self.id);
  if (location.pathname !== hrefOf('login')) return;
  goOn(new URLSearchParams(location.search).get('to'));
}

function withoutSelf() {
  const known = about.get();
  return known === undefined ? undefined : { ...known, self: null };
}

const AGAIN_S = 3;

/** Shown until the first read succeeds: nothing is known, not even who is logged in. */
function NoGateway() {
  const failed = useAtom(aboutFailed);
  useEffect(() => {
    if (!failed) return undefined;
    const timer = setInterval(() => {
      readAbout().then(
        ({ self }) => actAs(self?.id),
        () => undefined,
      );
    }, AGAIN_S * 1_000);
    return () => clearInterval(timer);
  }, [failed]);
  return (
    <main class="gate">
      {failed ? (
        <div class="box" role="alert">
          <Brand />
          <h1>{w().shell.noGateway}</h1>
          <p class="muted">{w().shell.noGatewayHelp}</p>
        </div>
      ) : (
        <div class="box">
          <Brand />
          <Skeleton />
        </div>
      )}
    </main>
  );
}

function Frame() {
  const { path } = useRoute();
  const [menu, setMenu] = useState(false);
  const page = pageOf(path);
  const visible = PAGES.filter(({ admin }) => !admin || seesAll());
  const isSearching = useAtom(searching);
  const [Search, setSearch] = useState<Closable>();
  const isShowingKeys = useAtom(showingKeys);

  useEffect(() => setMenu(false), [path.join('/')]);
  useEffect(() => {
    document.title = page === undefined ? 'rerank gateway' : `${nameOf(page)} · rerank gateway`;
  }, [page]);
  useKeys();
  useEffect(() => {
    // Before somebody searches, because the letter after `Ctrl K` is meant for the search.
    if (Search === undefined) loadSearch().then((part) => setSearch(() => part), chunkIsGone);
  }, [isSearching]);
  useEffect(() => {
    // Loads all chunks while the page is idle: after an upgrade, the next node may no longer have them.
    const timer = setTimeout(() => {
      for (const { load } of visible) void load().catch(() => undefined);
    }, 3_000);
    return () => clearTimeout(timer);
  }, []);

  return (
    <div class="shell">
      <a class="button skip" href="#content" onClick={focusContent}>
        {w().shell.skip}
      </a>
      <div class={menu ? 'side open' : 'side'}>
        <Brand />
        <nav aria-label={w().shell.navigation}>
          {(Object.keys(w().groups) as (keyof ReturnType<typeof w>['groups'])[]).map((group) => {
            const entries = visible.filter((entry) => entry.group === group);
            if (entries.length === 0) return null;
            return (
              <div key={group}>
                <h2>{w().groups[group]}</h2>
                <ul>
                  {entries.map((entry) => (
                    <li key={entry.path}>
                      <Link to={entry.path === '' ? './' : entry.path} current={entry === page}>
                        <Icon name={entry.icon} />
                        {nameOf(entry)}
                      </Link>
                    </li>
                  ))}
                </ul>
              </div>
            );
          })}
        </nav>
        <Foot />
      </div>
      <div class="page">
        <Bars />
        <main class="content" id="content" tabIndex={-1}>
          <Content page={page} />
        </main>
      </div>
      <nav class="bottom" aria-label={w().shell.shortNavigation}>
        {(seesAll() ? ['', 'tags', 'requests'] : ['', 'keys', 'requests']).map((name) => {
          const entry = pageOf([name]);
          if (entry === undefined) return null;
          return (
            <Link key={name} to={name === '' ? './' : name} current={entry === page}>
              <Icon name={entry.icon} />
              {nameOf(entry)}
            </Link>
          );
        })}
        <button type="button" onClick={() => searching.set(true)}>
          <Icon name="search" />
          {w().shell.search}
        </button>
        <button type="button" aria-expanded={menu} onClick={() => setMenu(!menu)}>
          <Icon name="menu" />
          {w().shell.menu}
        </button>
      </nav>
      {isSearching && Search !== undefined ? <Search onClose={() => searching.set(false)} /> : null}
      {isShowingKeys ? <KeysHelp onClose={() => showingKeys.set(false)} /> : null}
    </div>
  );
}

function focusContent(event: MouseEvent): void {
  event.preventDefault();
  document.getElementById('content')?.focus();
}

function Content({ page }: { readonly page: Page | undefined }) {
  const [chunks, setChunks] = useState<Readonly<Record<string, Chunk>>>({});
  useEffect(() => {
    if (page === undefined || chunks[page.path] !== undefined) return;
    const put = (chunk: Chunk): void => setChunks((before) => ({ ...before, [page.path]: chunk }));
    page.load().then(
      (loaded) => put({ page: loaded }),
      (error: unknown) => {
        chunkIsGone(error);
        put({ failed: true });
      },
    );
  }, [page]);
  const isComing = page !== undefined && chunks[page.path] === undefined;
  useLayoutEffect(() => {
    const keys = missed?.page === page ? missed?.keys : undefined;
    missed = isComing ? { page, keys: [] } : undefined;
    for (const key of keys ?? [])
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
  }, [isComing, page]);
  if (page === undefined) {
    return (
      <div class="card empty">
        <strong>{w().shell.noPage}</strong>
        <Link to="./">{w().shell.toStart}</Link>
      </div>
    );
  }
  if (page.admin && !seesAll()) return <NoRights />;
  const chunk = chunks[page.path];
  if (chunk === undefined) return <Skeleton />;
  if ('failed' in chunk) return <ChunkGone />;
  const { page: Loaded } = chunk;
  return <Loaded key={page.path} />;
}

/** A part of this page is of a release that no gateway has any more. */
function ChunkGone() {
  return (
    <div class="card empty">
      <strong>{w().shell.chunkGone}</strong>
      <Button kind="main" onClick={reload}>
        {w().shell.reload}
      </Button>
    </div>
  );
}

/** Notices for every page: the gateway or store does not answer, an upgrade, tags that are switched off. */
function Bars() {
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
            <strong>{away.kind === 'store' ? w().shell.storeAway : w().shell.gatewayAway}</strong>{' '}
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
    <div class="bar">
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
    </div>
  );
}

function Foot() {
  const self = useAtom(about)?.self;
  const { theme, language } = useAtom(settings);
  async function logout(): Promise<void> {
    try {
      await call('logout', { body: {} });
    } catch (error) {
      console.info('not logged out:', error);
      return;
    }
    queries.clear();
    forgetDrafts();
    actAs(undefined);
    about.set(withoutSelf());
    tellTabs({ kind: 'logout' });
    navigate('login', { replace: true });
  }
  const dark =
    theme === 'dark' || (theme === 'system' && matchMedia('(prefers-color-scheme: dark)').matches);
  const other = dark ? 'light' : 'dark';
  return (
    <div class="foot">
      <button type="button" class="button" onClick={() => searching.set(true)}>
        <Icon name="search" />
        {w().shell.search} <kbd>Ctrl K</kbd>
      </button>
      <div class="row tight">
        <Link to="account" class="grow clip" title={self?.username}>
          {self?.display_name === '' ? self.username : self?.display_name}
        </Link>
        <Button
          kind="icon"
          label={w().shell[other]}
          title={w().shell[other]}
          onClick={() => changeSettings({ theme: other })}
        >
          <Icon name={other} />
        </Button>
        <Button
          kind="icon"
          label={language === 'en' ? '中文' : 'English'}
          title={language === 'en' ? '中文' : 'English'}
          onClick={() => changeSettings({ language: language === 'en' ? 'zh' : 'en' })}
        >
          <Icon name="language" />
        </Button>
        <Button
          kind="icon"
          label={w().shell.logout}
          title={w().shell.logout}
          onClick={() => void logout()}
        >
          <Icon name="logout" />
        </Button>
      </div>
    </div>
  );
}

function chunkIsGone(error: unknown): void {
  console.info('a part of the page cannot be loaded:', error);
  upgraded.set(true);
}

/** A component in a separate chunk; renders nothing until the chunk has loaded, and `Gone` where it is not to be had. */
function lazy<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  Gone: ComponentType,
): (props: Props) => ComponentChild {
  return (props) => {
    const [Part, setPart] = useState<ComponentType<Props>>();
    useEffect(() => {
      load().then(
        (part) => setPart(() => part),
        (error: unknown) => {
          chunkIsGone(error);
          setPart(() => Gone);
        },
      );
    }, []);
    return Part === undefined ? null : <Part {...props} />;
  };
}

const CHORD_MS = 1_200;
/** Letters that mean the same on every page, whether or not it is there. */
const SHELL_KEYS = 'g/?ry';
/** What was pressed while the page was not there yet, which is told it once it is. */
let missed: { readonly page: Page; readonly keys: string[] } | undefined;

/** The keys that work on every page. */
function useKeys(): void {
  const chordUntilMs = useRef(0);
  usePageKeys((event) => {
    const { key } = event;
    if ((event.ctrlKey || event.metaKey) && key.toLowerCase() === 'k') {
      event.preventDefault();
      searching.set(!searching.get());
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (!settings.get().letterKeys) return;
    if (searching.get() || document.querySelector('dialog[open]') !== null) return;
    if (isTyping(event)) return;
    // When the key was pressed, not when a busy page came to hear of it.
    if (event.timeStamp < chordUntilMs.current) {
      chordUntilMs.current = 0;
      const page = PAGES.find((entry) => entry.key === key && (!entry.admin || seesAll()));
      if (page !== undefined) {
        event.preventDefault();
        navigate(page.path === '' ? './' : page.path);
      }
      return;
    }
    if (missed !== undefined && key.length === 1 && !SHELL_KEYS.includes(key))
      missed.keys.push(key);
    else if (key === 'g') chordUntilMs.current = event.timeStamp + CHORD_MS;
    else if (key === '/') {
      event.preventDefault();
      searching.set(true);
    } else if (key === '?') showingKeys.set(true);
    else if (key === 'r') void reread();
    else if (key === 'y') void copyText(location.href);
    else if (key === 'n') {
      const button = document.querySelector<HTMLElement>('[data-new]');
      if (button !== null) {
        event.preventDefault();
        button.click();
      }
    }
  });
}
