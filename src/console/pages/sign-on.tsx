import { about } from '../about.js';
import { apiAddress, hrefOf, useRoute } from '../router.js';
import { useAtom } from '../state.js';
import { wp } from '../words.js';

/** The button that leads to the provider, and why the last login by it failed. */
export function SignOn() {
  const { path, query } = useRoute();
  const { open_id: label, refusal } = useAtom(about)?.logins ?? {};
  const here = (location.pathname + location.search).slice(hrefOf('./').length);
  const to = path[0] === 'login' ? (query.get('to') ?? '') : here;
  const address = apiAddress('api/user/oidc/login');
  if (to !== '') address.searchParams.set('to', to);
  const why = refusal ?? wordsOf(query.get('refused'));
  return (
    <>
      {why === undefined ? null : (
        <div class="notice bad-bar" role="alert">
          <span class="bad" aria-hidden="true">
            ✕
          </span>
          <span class="grow wrap">{why}</span>
        </div>
      )}
      {label == null ? null : (
        <a class="button main" href={address.href}>
          {label}
        </a>
      )}
    </>
  );
}

/** Only codes come by the address, never words of somebody else. */
function wordsOf(code: string | null): string | undefined {
  if (code === null) return undefined;
  const { refused, failed } = wp().signOn;
  return (refused as Readonly<Record<string, string | undefined>>)[code] ?? failed;
}
