/**
 * What somebody was working on, by page: it is there when they come back. It lives in the tab's memory, and in its storage
 * only for the moment of a reload.
 */
const KEY = 'rerank-console-drafts';

const drafts = new Map<string, unknown>(takeStored());

function takeStored(): [string, unknown][] {
  try {
    const stored = JSON.parse(sessionStorage.getItem(KEY) ?? '[]') as unknown;
    sessionStorage.removeItem(KEY);
    return Array.isArray(stored) ? (stored as [string, unknown][]) : [];
  } catch (error) {
    // The browser stores nothing, or another program has written something else there.
    console.info('no drafts:', error);
    return [];
  }
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
  try {
    sessionStorage.setItem(KEY, JSON.stringify([...drafts]));
  } catch (error) {
    console.info('no drafts kept:', error);
  }
  location.reload();
}
