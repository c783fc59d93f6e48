/** Text as one word of a shell command: within single quotes, only the quote itself is special. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** The same, between quotes only if it needs them. */
function word(text: string): string {
  return /^[\w./:@=,-]+$/.test(text) ? text : quoted(text);
}

/** A command of the gateway's command line; options without a value are left out. */
export function commandOf(
  start: string,
  options: readonly (readonly [flag: string, value: string])[],
): string {
  const given = options.filter(([, value]) => value !== '');
  return [
    'npm run cli --',
    start,
    ...given.map(([flag, value]) => `--${flag} ${word(value)}`),
  ].join(' ');
}
