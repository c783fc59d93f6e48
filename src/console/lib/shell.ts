/** Text as one word of a shell command: within single quotes, only the quote itself is special. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** The same, between quotes only if it needs them. */
export function word(text: string): string {
  return /^[\w./:@=,-]+$/.test(text) ? text : quoted(text);
}
