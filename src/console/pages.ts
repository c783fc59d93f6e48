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

function page(
  name: keyof Words['nav'] & IconName,
  group: Page['group'],
  key: string,
  load: Page['load'],
  { admin = false, records = false }: Partial<Pick<Page, 'admin' | 'records'>> = {},
): Page {
  return {
    path: name === 'overview' ? '' : name,
    name,
    icon: name,
    group,
    key,
    load,
    admin,
    records,
  };
}

/** Every entry of the navigation; each page loads as a separate chunk. */
export const PAGES: readonly Page[] = [
  page('overview', 'work', 'o', async () =>
    seesAll()
      ? (await withWords(import('./pages/overview/overview.js'))).Overview
      : (await withWords(import('./pages/home.js'))).Home,
  ),
  page(
    'playground',
    'work',
    'p',
    async () => (await withWords(import('./pages/playground/playground.js'))).Playground,
  ),
  page(
    'requests',
    'work',
    'r',
    async () => (await withWords(import('./pages/requests/requests.js'))).Requests,
    { records: true },
  ),
  page('keys', 'access', 'k', async () => (await withWords(import('./pages/keys/keys.js'))).Keys, {
    records: true,
  }),
  page('spend', 'access', 's', async () => (await withWords(import('./pages/spend.js'))).Spend),
  page(
    'codes',
    'access',
    'd',
    async () => (await withWords(import('./pages/codes/codes.js'))).Codes,
    { admin: true, records: true },
  ),
  page(
    'people',
    'access',
    'u',
    async () => (await withWords(import('./pages/people/people.js'))).People,
    { admin: true, records: true },
  ),
  page(
    'channels',
    'routing',
    'c',
    async () => (await withWords(import('./pages/channels/channels.js'))).Channels,
    { admin: true, records: true },
  ),
  page('tags', 'routing', 't', async () => (await withWords(import('./pages/tags.js'))).Tags, {
    admin: true,
    records: true,
  }),
  page(
    'models',
    'routing',
    'm',
    async () => (await withWords(import('./pages/models/models.js'))).Models,
    { records: true },
  ),
  page('nodes', 'system', 'n', async () => (await withWords(import('./pages/nodes.js'))).Nodes, {
    admin: true,
  }),
  page('audit', 'system', 'a', async () => (await withWords(import('./pages/audit.js'))).Audit, {
    admin: true,
  }),
  page(
    'account',
    'system',
    'i',
    async () => (await withWords(import('./pages/account.js'))).Account,
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
