import { store, stored } from './storage.js';

/**
 * What somebody was working on, by page: it is there when they come back. It lives in the tab's memory, and in its storage
 * only for the moment of a reload.
 */
const KEY = 'rerank-console-drafts';

const drafts = new Map<string, unknown>(takeStored());

function takeStored(): [string, unknown][] {
  const kept = stored('sessionStorage', KEY);
  store('sessionStorage', KEY, undefined);
  return Array.isArray(kept) ? (kept as [string, unknown][]) : [];
}

export function draftOf(page: string): unknown {
  return drafts.get(page);
}

export function keepDraft(page: string, draft: unknown): void {
  drafts.set(page, draft);
}

/** Whoever logs in next is perhaps somebody else. */
export function forgetDrafts(): void {
  drafts.clear();
}

/** Loads the page of the present release; the drafts go along. */
export function reload(): void {
  store('sessionStorage', KEY, [...drafts]);
  location.reload();
}
