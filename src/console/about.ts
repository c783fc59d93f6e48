import { call, type ReplyOf } from './api/call.js';
import { atom } from './state.js';

export type About = ReplyOf<'about'>;

/** What the gateway reports about itself and about the logged-in user. */
export const about = atom<About | undefined>(undefined);

/** Whether the gateway failed to say what it reports about itself. */
export const aboutFailed = atom(false);

export async function readAbout(): Promise<About> {
  try {
    const read = await call('about');
    about.set(read);
    aboutFailed.set(false);
    return read;
  } catch (error) {
    aboutFailed.set(true);
    throw error;
  }
}

const AUDITOR_ROLE = 5;
const ADMIN_ROLE = 10;

/** Whether one sees what belongs to everybody: auditors do, and change none of it. */
export function seesAll(): boolean {
  return (about.get()?.self?.role ?? 0) >= AUDITOR_ROLE;
}

export function isAdmin(): boolean {
  return (about.get()?.self?.role ?? 0) >= ADMIN_ROLE;
}

/** What is known once nobody is logged in any more. */
export function withoutSelf(): About | undefined {
  const known = about.get();
  return known && { ...known, self: null };
}
