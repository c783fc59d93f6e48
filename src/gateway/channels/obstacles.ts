import { misfitOf, type Fitting, type Misfit } from '../../core/eligibility.js';
import type { ChannelHealth } from './health.js';
import type { Availability } from './state.js';
import type { Job, Offer } from '../rank.js';

/** What a job's candidates depend on. */
export type Sought = Fitting & Pick<Job, 'model' | 'keyId' | 'admits'>;

/** What rules out an offer for a job at a moment. */
export type Obstacle =
  /** Its own status or its tag's switch. */
  | { readonly kind: 'switched_off' }
  /** The tags of request and key. */
  | { readonly kind: 'tag' }
  /** It never takes such a request. */
  | { readonly kind: 'misfit'; readonly misfit: Misfit }
  | { readonly kind: 'busy'; readonly availability: Exclude<Availability, { kind: 'ready' }> };

/** What rules out an offer for a job right now; `undefined` if nothing does. */
export function obstacleOf(
  health: Pick<ChannelHealth, 'availability'>,
  job: Sought,
  offer: Offer,
  nowMs: number,
): Obstacle | undefined {
  const { route, room } = offer;
  if (!route.live) return { kind: 'switched_off' };
  if (!job.admits(route)) return { kind: 'tag' };
  const misfit = misfitOf(room, job);
  if (misfit !== undefined) return { kind: 'misfit', misfit };
  const availability = health.availability(offer, nowMs);
  return availability.kind === 'ready' ? undefined : { kind: 'busy', availability };
}
