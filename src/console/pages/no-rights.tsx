import { about } from '../about.js';
import { useRead } from '../api/query.js';
import { Link } from '../parts/buttons.js';
import { useAtom } from '../state.js';
import { w, wp } from '../words.js';

/** In place of a page that the account may not see: which roles may, and whom to ask. */
export function NoRights() {
  const role = useAtom(about)?.self?.role ?? 0;
  const { data: admins = [] } = useRead('listAdmins');
  const words = wp().noRights;
  return (
    <div class="card empty">
      <strong>{words.title}</strong>
      <p>{words.help(wp().people.roles[role])}</p>
      {admins.length === 0 ? null : (
        <p class="wrap">
          {words.admins} {admins.join(', ')}
        </p>
      )}
      <Link to="./" class="button">
        {w().shell.toStart}
      </Link>
    </div>
  );
}
