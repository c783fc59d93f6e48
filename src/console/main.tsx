import { render } from 'preact';
import './tokens.css';
import './styles.css';
import { readAbout } from './about.js';
import { actAs } from './api/call.js';
import { applySettings, settings } from './settings.js';
import { Shell } from './shell.js';
import { loadWords } from './words.js';

async function start(): Promise<void> {
  applySettings();
  const host = document.getElementById('app');
  if (host === null) throw new Error('the page lacks the element to render into');
  const [, about] = await Promise.all([
    loadWords(),
    // The page reports it if this fails, and tries again.
    readAbout().catch(() => undefined),
  ]);
  actAs(about?.self?.id);
  let { language } = settings.get();
  render(<Shell key={language} />, host);
  settings.listen(() => {
    if (settings.get().language === language) return;
    ({ language } = settings.get());
    void loadWords().then(() => render(<Shell key={language} />, host));
  });
}

void start();
