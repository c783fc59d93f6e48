import { render } from 'preact';
import './tokens.css';
import './styles.css';
import { readAbout } from './about.js';
import { actAs } from './api/call.js';
import { applySettings, settings } from './settings.js';
import { Shell } from './shell.js';
import { loadWords } from './words.js';

/** How long the page stays blank for an answer of the gateway; after that it shows that it is waiting. */
const PATIENCE_MS = 150;

function afterPatience(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, PATIENCE_MS));
}

async function start(): Promise<void> {
  applySettings();
  const host = document.getElementById('app');
  if (host === null) throw new Error('the page lacks the element to render into');
  // The page reports it if this fails, and tries again.
  const asked = readAbout().then(
    ({ self }) => actAs(self?.id),
    () => undefined,
  );
  await Promise.all([loadWords(), Promise.race([asked, afterPatience()])]);
  let { language } = settings.get();
  host.replaceChildren();
  render(<Shell key={language} />, host);
  settings.listen(() => {
    if (settings.get().language === language) return;
    ({ language } = settings.get());
    void loadWords().then(() => render(<Shell key={language} />, host));
  });
}

void start();
