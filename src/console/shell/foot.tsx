import { about, withoutSelf } from '../about.js';
import { actAs, call } from '../api/call.js';
import { queries } from '../api/query.js';
import { forgetDrafts } from '../drafts.js';
import { Icon } from '../icons.js';
import { Button, Link } from '../parts/buttons.js';
import { apiAddress, navigate } from '../router.js';
import { changeSettings, settings } from '../settings.js';
import { useAtom } from '../state.js';
import { tellTabs } from '../tabs.js';
import { w } from '../words.js';
import { searching } from './keys.js';

export function Foot() {
  const self = useAtom(about)?.self;
  const { theme, language } = useAtom(settings);
  async function logout(): Promise<void> {
    try {
      await call('logout', { body: {} });
    } catch (error) {
      console.info('not logged out:', error);
      return;
    }
    queries.clear();
    forgetDrafts();
    actAs(undefined);
    about.set(withoutSelf());
    tellTabs({ kind: 'logout' });
    // The provider leads back here, once its own session has ended.
    if (about.get()?.logins.open_id == null) navigate('login', { replace: true });
    else location.assign(apiAddress('api/user/oidc/logout'));
  }
  const dark =
    theme === 'dark' || (theme === 'system' && matchMedia('(prefers-color-scheme: dark)').matches);
  const other = dark ? 'light' : 'dark';
  return (
    <div class="foot">
      <button type="button" class="button" onClick={() => searching.set(true)}>
        <Icon name="search" />
        {w().shell.search} <kbd>Ctrl K</kbd>
      </button>
      <div class="row tight">
        <Link to="account" class="grow clip" title={self?.username}>
          {self?.display_name === '' ? self.username : self?.display_name}
        </Link>
        <Button
          kind="icon"
          label={w().shell[other]}
          title={w().shell[other]}
          onClick={() => changeSettings({ theme: other })}
        >
          <Icon name={other} />
        </Button>
        <Button
          kind="icon"
          label={language === 'en' ? '中文' : 'English'}
          title={language === 'en' ? '中文' : 'English'}
          onClick={() => changeSettings({ language: language === 'en' ? 'zh' : 'en' })}
        >
          <Icon name="language" />
        </Button>
        <Button
          kind="icon"
          label={w().shell.logout}
          title={w().shell.logout}
          onClick={() => void logout()}
        >
          <Icon name="logout" />
        </Button>
      </div>
    </div>
  );
}
