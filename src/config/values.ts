import type { AlertTarget } from './alert-targets.js';
import type { ConfiguredChannel } from './channels.js';
import type { ModelRulesSettings } from './rules.js';
import type { ValuesOf } from './setting.js';
import type { SETTINGS } from './settings.js';
import type { TagSwitch } from '../core/channel.js';
import type { PriceList } from '../core/quota.js';
import type { Secret } from '../core/secret.js';

type Groups = { readonly [G in keyof typeof SETTINGS]: ValuesOf<(typeof SETTINGS)[G]> };

export type StoreSettings = Groups['store'];

/** What the configuration settles for callers, rather than their keys. */
interface CallerSettings {
  /** Other names of models. */
  readonly aliases: Readonly<Record<string, string>>;
  /** The addresses of callers without a key, and the key that they are served with. */
  readonly anonymous: { readonly addresses: readonly string[]; readonly key: Secret } | undefined;
  /** Access key ids of clients that sign like those of AWS, with the API keys that they stand for and sign with. */
  readonly awsKeys: Readonly<Record<string, Secret>>;
}

/** The state of a tag's switch before anybody has touched it. */
export type InitialSwitch = Pick<TagSwitch, 'tag' | 'disabled' | 'reason'>;

export interface Config extends Groups {
  readonly alerts: Groups['alerts'] & { readonly targets: readonly AlertTarget[] };
  readonly models: ModelRulesSettings;
  readonly callers: CallerSettings;
  readonly prices: PriceList;
  /** `undefined` if no file has the key, so that channels declared before are left as they are. */
  readonly channels: readonly ConfiguredChannel[] | undefined;
  readonly tags: readonly InitialSwitch[];
}
