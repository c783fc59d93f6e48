import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { about, aboutFailed, readAbout, seesAll, withoutSelf } from './about.js';
import { actAs, loginIsOver, trouble } from './api/call.js';
import { Brand } from './brand.js';
import { Icon } from './icons.js';
import { nameOf, PAGES, pageOf } from './pages.js';
import { goOn, Login, LoginAgain } from './pages/login.js';
import { Link } from './parts/buttons.js';
import type { Closable } from './parts/dialog.js';
import { Skeleton } from './parts/notices.js';
import { Toasts } from './parts/toast.js';
import { hrefOf, KEEPING, navigate, useRoute } from './router.js';
import { AGAIN_S, Bars } from './shell/bars.js';
import { ChunkGone, chunkIsGone, lazy, upgraded } from './shell/chunks.js';
import { Content } from './shell/content.js';
import { Foot } from './shell/foot.js';
import { searching, showingKeys, useKeys } from './shell/keys.js';
import { useAtom } from './state.js';
import { hearTabs } from './tabs.js';
import { w, withWords } from './words.js';

async function loadSearch(): Promise<ComponentType<Closable>> {
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

const PUBLIC: Readonly<Record<string, ComponentType>> = {
  login: Login,
  register: outside('Register'),
  forgot: outside('Forgot'),
  reset: outside('Reset'),
};

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
  const [Search, setSearch] = useState<ComponentType<Closable>>();
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
      <header class={menu ? 'side open' : 'side'}>
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
      </header>
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
