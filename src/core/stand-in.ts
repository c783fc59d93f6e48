/** What a message ends with that was cut off. */
export const CUT_OFF = '…';
/** Fewer characters at the end of a message that was cut off are hardly the beginning of what must not be seen. */
const LEAST_BEGINNING = 4;

/**
 * A message with `shown` wherever it quotes `hidden`, however that is capitalised, and in place of its beginning where the
 * message was cut off in the middle of it.
 */
export function withStandIn(message: string, hidden: string, shown: string): string {
  if (hidden === '') return message;
  const pattern = new RegExp(escaped(hidden), 'giu');
  const rest = message.replace(pattern, () => shown);
  if (!rest.endsWith(CUT_OFF)) return rest;
  const kept = rest.slice(0, -CUT_OFF.length);
  const length = beginningAtEnd(kept.toLowerCase(), hidden.toLowerCase());
  return length === 0 ? rest : kept.slice(0, kept.length - length) + shown + CUT_OFF;
}

/** How much of `text` a message ends with: of its beginning, less than all of it. */
function beginningAtEnd(message: string, text: string): number {
  for (
    let length = Math.min(text.length - 1, message.length);
    length >= LEAST_BEGINNING;
    length -= 1
  ) {
    if (message.endsWith(text.slice(0, length))) return length;
  }
  return 0;
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
}
