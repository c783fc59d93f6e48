/** Text that needs no JSON escapes; longer text is left to the engine, which scans it faster. */
const PLAIN = /^[\w ,.:;/@?()+-]{0,100}$/;

/** A string as JSON. */
export function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}
