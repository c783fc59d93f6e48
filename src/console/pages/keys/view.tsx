import { about, isAdmin } from '../../about.js';
import type { ReplyOf } from '../../api/call.js';
import { Meter, Money, State } from '../../parts/values.js';
import { wp } from '../../words.js';

export type Key = ReplyOf<'getToken'>;

export const SOON_S = 3 * 86_400;
export const UNUSED_S = 90 * 86_400;
const LOW = 0.05;

/** One’s own keys, and as an admin those of others. */
export function mayChange({ user_id: owner }: Key): boolean {
  return isAdmin() || owner === about.get()?.self?.id;
}

export function KeyState({
  token: { status, expired_time: ends, accessed_time: used, created_time },
}: {
  readonly token: Key;
}) {
  const now = Date.now() / 1000;
  const { states } = wp().keys;
  if (status === 2) return <State sign="off">{states.disabled}</State>;
  if (status === 3) return <State sign="bad">{states.expired}</State>;
  if (status === 4) return <State sign="bad">{states.exhausted}</State>;
  if (ends > 0 && ends - now < SOON_S) return <State sign="warn">{states.endsSoon}</State>;
  if (now - Math.max(used, created_time) > UNUSED_S)
    return <State sign="warn">{states.unused}</State>;
  return <State sign="ok">{states.enabled}</State>;
}

export function Left({
  token: { unlimited_quota, remain_quota, used_quota },
}: {
  readonly token: Key;
}) {
  if (unlimited_quota) return <span class="muted">{wp().keys.asAccount}</span>;
  const share = remain_quota / Math.max(1, remain_quota + used_quota);
  return (
    <>
      <Meter share={share} low={share < LOW} /> <Money units={remain_quota} />
    </>
  );
}
