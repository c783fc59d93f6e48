import { call, type ReplyOf } from './api/call.js';
import { atom } from './state.js';

export type About = ReplyOf<'about'>;

/** What the gateway reports about itself and about the logged-in user. */
export const about = atom<About | undefined>(undefined);

export async function readAbout(): Promise<About> {
  const read = await call('about');
  about.set(read);
  return read;
}

const ADMIN_ROLE = 10;

export function isAdmin(): boolean {
  return (about.get()?.self?.role ?? 0) >= ADMIN_ROLE;
}
