/** Finds Chromium for the tests of the console, or has the system's package manager install it where that is allowed. */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { aptInstall } from '../support/apt.mjs';

/** Chromium without a window, which takes two thirds of the time that the whole of it takes. */
const WITHOUT_WINDOW = 'chromium-headless-shell';
const NAMES = [
  ...[WITHOUT_WINDOW, 'chromium', 'chromium-browser'],
  ...['google-chrome-stable', 'google-chrome'],
];

/** The browser's file: `CHROMIUM`, else the first one on the PATH. */
export function findBrowser() {
  const named = process.env.CHROMIUM;
  if (named !== undefined && named !== '') return existsSync(named) ? named : undefined;
  const folders = (process.env.PATH ?? '').split(delimiter);
  return NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find((file) =>
    existsSync(file),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  // The pictures of the pages are written in the letters of this font.
  const fonts = 'fonts-liberation';
  if (findBrowser() === undefined && !aptInstall(WITHOUT_WINDOW, fonts))
    aptInstall('chromium', fonts);
  const found = findBrowser();
  if (found === undefined) {
    console.error('No Chromium: install it, or name its file in CHROMIUM.');
    process.exit(1);
  }
  console.error(`The console is tested in ${found}`);
}
