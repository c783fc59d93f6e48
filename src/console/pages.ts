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

/** Every entry of the navigation; each page loads as a separate chunk. */
export const PAGES: readonly Page[] = [
  {
    path: '',
    name: 'overview',
    icon: 'overview',
    group: 'work',
    admin: false,
    key: 'o',
    load: async () =>
      seesAll()
        ? (await withWords(import('./pages/overview.js'))).Overview
        : (await withWords(import('./pages/home.js'))).Home,
  },
  {
    path: 'playground',
    name: 'playground',
    icon: 'playground',
    group: 'work',
    admin: false,
    key: 'p',
    load: async () => (await withWords(import('./pages/playground/playground.js'))).Playground,
  },
  {
    path: 'requests',
    records: true,
    name: 'requests',
    icon: 'requests',
    group: 'work',
    admin: false,
    key: 'r',
    load: async () => (await withWords(import('./pages/requests/requests.js'))).Requests,
  },
  {
    path: 'keys',
    records: true,
    name: 'keys',
    icon: 'keys',
    group: 'access',
    admin: false,
    key: 'k',
    load: async () => (await withWords(import('./pages/keys/keys.js'))).Keys,
  },
  {
    path: 'spend',
    name: 'spend',
    icon: 'spend',
    group: 'access',
    admin: false,
    key: 's',
    load: async () => (await withWords(import('./pages/spend.js'))).Spend,
  },
  {
    path: 'codes',
    records: true,
    name: 'codes',
    icon: 'codes',
    group: 'access',
    admin: true,
    key: 'd',
    load: async () => (await withWords(import('./pages/codes/codes.js'))).Codes,
  },
  {
    path: 'people',
    records: true,
    name: 'people',
    icon: 'people',
    group: 'access',
    admin: true,
    key: 'u',
    load: async () => (await withWords(import('./pages/people/people.js'))).People,
  },
  {
    path: 'channels',
    records: true,
    name: 'channels',
    icon: 'channels',
    group: 'routing',
    admin: true,
    key: 'c',
    load: async () => (await withWords(import('./pages/channels/channels.js'))).Channels,
  },
  {
    path: 'tags',
    records: true,
    name: 'tags',
    icon: 'tags',
    group: 'routing',
    admin: true,
    key: 't',
    load: async () => (await withWords(import('./pages/tags.js'))).Tags,
  },
  {
    path: 'models',
    records: true,
    name: 'models',
    icon: 'models',
    group: 'routing',
    admin: false,
    key: 'm',
    load: async () => (await withWords(import('./pages/models/models.js'))).Models,
  },
  {
    path: 'nodes',
    name: 'nodes',
    icon: 'nodes',
    group: 'system',
    admin: true,
    key: 'n',
    load: async () => (await withWords(import('./pages/nodes.js'))).Nodes,
  },
  {
    path: 'audit',
    name: 'audit',
    icon: 'audit',
    group: 'system',
    admin: true,
    key: 'a',
    load: async () => (await withWords(import('./pages/audit.js'))).Audit,
  },
  {
    path: 'account',
    name: 'account',
    icon: 'account',
    group: 'system',
    admin: false,
    key: 'i',
    load: async () => (await withWords(import('./pages/account.js'))).Account,
  },
];

export function pageOf([first = '', ...below]: readonly string[]): Page | undefined {
  return PAGES.find(
    ({ path, records = false }) => path === first && below.length <= (records ? 1 : 0),
  );
}

export function nameOf({ name }: Page): string {
  return name === 'overview' && !seesAll() ? w().nav.home : w().nav[name];
}
