import { atom } from './state.js';
import { store, stored } from './storage.js';

/** A user's preferences for the page. They stay in this browser, and contain nothing secret. */
export interface Settings {
  readonly language: 'en' | 'zh';
  readonly theme: 'system' | 'light' | 'dark';
  readonly density: 'compact' | 'normal' | 'roomy';
  readonly units: boolean;
  readonly utc: boolean;
  readonly letterKeys: boolean;
}

const KEY = 'rerank-console';

const DEFAULTS: Settings = {
  language: navigator.language.toLowerCase().startsWith('zh') ? 'zh' : 'en',
  theme: 'system',
  density: 'normal',
  units: false,
  utc: false,
  letterKeys: true,
};

export const settings = atom<Settings>({
  ...DEFAULTS,
  ...(stored('localStorage', KEY) as Partial<Settings> | undefined),
});

export function changeSettings(change: Partial<Settings>): void {
  settings.set({ ...settings.get(), ...change });
  applySettings();
  store('localStorage', KEY, settings.get());
}

/** Applies theme, density and language to the document. */
export function applySettings(): void {
  const { theme, density, language } = settings.get();
  const { documentElement: root } = document;
  root.style.colorScheme = theme === 'system' ? 'light dark' : theme;
  root.dataset.density = density;
  root.lang = language === 'zh' ? 'zh-CN' : 'en';
}
