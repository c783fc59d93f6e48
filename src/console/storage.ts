type Area = 'localStorage' | 'sessionStorage';

/** What the browser has kept under a name; undefined where it keeps nothing, or another program has written something else. */
export function stored(area: Area, key: string): unknown {
  try {
    return JSON.parse(window[area].getItem(key) ?? 'null') ?? undefined;
  } catch (error) {
    console.info(`nothing is kept as ${key}:`, error);
    return undefined;
  }
}

/** Keeps a value, or none under that name any more; what cannot be kept lasts until the page is closed. */
export function store(area: Area, key: string, value: unknown): void {
  try {
    if (value === undefined) window[area].removeItem(key);
    else window[area].setItem(key, JSON.stringify(value));
  } catch (error) {
    console.info(`${key} is not kept:`, error);
  }
}
