import type { ComponentType } from 'preact';
import type { IconName } from './icons.js';
import { seesAll } from './about.js';
import { w, withWords } from './words.js';
import type { Words } from './words/en.js';

export interface Page {
  readonly path: string;
  readonly name: keyof Words['nav'];
  readonly icon: IconName;
  readonly group: keyof Words['groups'];
  readonly admin: boolean;
  /** Whether what is listed has addresses below that of the page. */
  readonly records?: boolean;
  /** The key to press after `g`. */
  readonly key: string;
  readonly load: () => Promise<ComponentType>;
}

type Kind = Partial<Pick<Page, 'admin' | 'records'>>;

function page(
  name: keyof Words['nav'] & IconName,
  group: Page['group'],
  key: string,
  { admin = false, records = false }: Kind,
  load: Page['load'],
): Page {
  return {
    ...{ path: name === 'overview' ? '' : name, name, icon: name, group, key, admin, records },
    load: () => withWords(load()),
  };
}

const ALL: Kind = {};
const ADMINS: Kind = { admin: true };
const RECORDS: Kind = { records: true };
const ADMINS_RECORDS: Kind = { ...ADMINS, ...RECORDS };

/** Every entry of the navigation; each page loads as a separate chunk. */
export const PAGES: readonly Page[] = [
  page('overview', 'work', 'o', ALL, () =>
    seesAll()
      ? import('./pages/overview/overview.js').then(({ Overview }) => Overview)
      : import('./pages/home.js').then(({ Home }) => Home),
  ),
  page('playground', 'work', 'p', ALL, () =>
    import('./pages/playground/playground.js').then(({ Playground }) => Playground),
  ),
  page('requests', 'work', 'r', RECORDS, () =>
    import('./pages/requests/requests.js').then(({ Requests }) => Requests),
  ),
  page('keys', 'access', 'k', RECORDS, () =>
    import('./pages/keys/keys.js').then(({ Keys }) => Keys),
  ),
  page('spend', 'access', 's', ALL, () => import('./pages/spend.js').then(({ Spend }) => Spend)),
  page('codes', 'access', 'd', ADMINS_RECORDS, () =>
    import('./pages/codes/codes.js').then(({ Codes }) => Codes),
  ),
  page('people', 'access', 'u', ADMINS_RECORDS, () =>
    import('./pages/people/people.js').then(({ People }) => People),
  ),
  page('channels', 'routing', 'c', ADMINS_RECORDS, () =>
    import('./pages/channels/channels.js').then(({ Channels }) => Channels),
  ),
  page('tags', 'routing', 't', ADMINS_RECORDS, () =>
    import('./pages/tags.js').then(({ Tags }) => Tags),
  ),
  page('models', 'routing', 'm', RECORDS, () =>
    import('./pages/models/models.js').then(({ Models }) => Models),
  ),
  page('nodes', 'system', 'n', ADMINS, () => import('./pages/nodes.js').then(({ Nodes }) => Nodes)),
  page('alerts', 'system', 'l', ADMINS, () =>
    import('./pages/alerts.js').then(({ Alerts }) => Alerts),
  ),
  page('audit', 'system', 'a', ADMINS, () => import('./pages/audit.js').then(({ Audit }) => Audit)),
  page('account', 'system', 'i', ALL, () =>
    import('./pages/account.js').then(({ Account }) => Account),
  ),
];

export function pageOf([first = '', ...below]: readonly string[]): Page | undefined {
  return PAGES.find(
    ({ path, records = false }) => path === first && below.length <= (records ? 1 : 0),
  );
}

export function nameOf({ name }: Page): string {
  return name === 'overview' && !seesAll() ? w().nav.home : w().nav[name];
}
