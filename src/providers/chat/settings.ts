import type { Endpoint, SettingSpec } from '../provider.js';

const COMMON_SETTINGS = {
  maxDocuments: { type: 'number', default: 100, least: 1, describe: 'documents of one request' },
  sendTemperature: {
    type: 'boolean',
    default: true,
    describe: 'whether temperature 0 is sent; some models refuse any',
  },
  seed: { type: 'number', describe: 'seed, if the API takes one' },
} as const satisfies Record<string, SettingSpec>;

export const LISTWISE_SETTINGS = {
  ...COMMON_SETTINGS,
  prompt: {
    type: 'string',
    default: 'listwise',
    describe: 'name of the prompt, a file of config/prompts or prompts_dir without .txt',
  },
  windowSize: {
    type: 'number',
    default: 20,
    least: 1,
    describe: 'passages that the model sees at once',
  },
  stride: { type: 'number', default: 10, least: 1, describe: 'how far the window moves each time' },
  windowTokens: {
    type: 'number',
    default: 16_000,
    least: 1,
    describe: 'tokens of one window; passages are cut so that it surely has no more',
  },
  maxTokens: {
    type: 'number',
    default: 1_024,
    least: 1,
    describe: 'tokens of an answer, and of the thoughts before it',
  },
} as const satisfies Record<string, SettingSpec>;

export const POINTWISE_SETTINGS = {
  ...COMMON_SETTINGS,
  prompt: { ...LISTWISE_SETTINGS.prompt, default: 'pointwise' },
  windowTokens: { ...LISTWISE_SETTINGS.windowTokens, default: 4_000 },
  concurrency: { type: 'number', default: 8, least: 1, describe: 'calls of one ranking at once' },
} as const satisfies Record<string, SettingSpec>;

/** What is wrong with the numbers of a channel. */
export function mistakes({ settings }: Pick<Endpoint, 'settings'>): (string | false)[] {
  const count = (name: string): number => Number(settings[name] ?? 1);
  return [
    settings.windowSize !== undefined &&
      (count('windowSize') < 2 || count('stride') >= count('windowSize')) &&
      'settings.stride must be less than settings.window_size, so that windows overlap',
  ];
}
