import { createRequire } from 'node:module';
import type * as Yaml from 'yaml';

/** Only mistakes need it, and loading it takes more processor time than all that a start reads. */
export const yaml = (): typeof Yaml => createRequire(import.meta.url)('yaml') as typeof Yaml;

/** What the parser says of lines that begin in the wrong column, and of signs that are missing. */
const LAYOUT: ReadonlySet<string> = new Set([
  ...['BAD_INDENT', 'MISSING_CHAR', 'UNEXPECTED_TOKEN'],
  ...['BLOCK_AS_IMPLICIT_KEY', 'MULTILINE_IMPLICIT_KEY'],
]);

/** What the parser says in words for programmers, and what it says without what would be right. */
const SAID: Readonly<Record<string, string>> = {
  TAB_AS_INDENT: 'is indented with a tab; use spaces',
  MULTIPLE_DOCS: 'begins a second document; move it to a file of its own, or remove the "---"',
  BLOCK_IN_FLOW: 'has a colon in a text within braces or brackets; put the text in quotes',
  BAD_DQ_ESCAPE:
    'has a backslash in double quotes, which begins an escape there; use single quotes',
  BAD_SCALAR_START: 'begins with a sign that means something else in YAML; put the text in quotes',
  TAG_RESOLVE_FAILED:
    'has a YAML tag (a word after "!"), which is not supported; write ${NAME} for a variable, or put the text in quotes',
};

/** Characters that editors and web pages put where a space or a colon belongs. */
const LOOKALIKE = /[\u00a0\u2000-\u200b\u202f\u3000\uff1a]/u;

/** A mistake in the layout of a file, and how far into the text it is. */
export interface LayoutMistake {
  readonly offset: number;
  readonly message: string;
}

/**
 * What is wrong with the layout of a file: the first mistake, from which others follow, or else what the parser does not
 * support. No line is quoted, since it may hold a secret.
 */
export function layoutMistakes(document: Yaml.Document, text: string): LayoutMistake[] {
  const [first] = document.errors;
  const found = first === undefined ? document.warnings : [first];
  return found.map(({ code, message, pos }) => {
    if (code === 'DUPLICATE_KEY') {
      const [name = 'a setting'] = /^\w+/.exec(text.slice(pos[0])) ?? [];
      const message = `${name} is set twice in the same group; keep one, or begin another entry of a list with "- "`;
      return { offset: pos[0], message };
    }
    return LAYOUT.has(code)
      ? wrongLine(document, text, message)
      : { offset: pos[0], message: SAID[code] ?? message };
  });
}

function wrongLine(document: Yaml.Document, text: string, said: string): LayoutMistake {
  const offset = placeOf(document, text);
  const quote = said.startsWith('Missing closing') ? lastQuote(document) : undefined;
  if (quote !== undefined) {
    return { offset: quote, message: `begins with ${text.charAt(quote)} and is never closed` };
  }
  const [first] = document.errors;
  const start = first?.pos[0] ?? offset;
  if (/^\s*-\w/.test(lineAt(text, start))) {
    return { offset: start, message: 'needs a space after the "-" that begins an entry of a list' };
  }
  const line = lineAt(text, offset);
  const message =
    lookalikeMistake(line) ??
    gluedMistake(line.replace(/^[\s-]+/, '')) ??
    (/(?:^|[^$])[[{](?:.*[:,[])?\s*\$\{/.test(line)
      ? 'has a ${ within braces or brackets; put that value in quotes'
      : undefined) ??
    unclosedMistake(said) ??
    `is indented unlike the lines around it, or lacks a ":" or a quote; the settings of a group, or of one entry of a list, begin in the same column (${said})`;
  return { offset, message };
}

/** What is wrong where the parser misses the end of a group in braces or of a list in brackets. */
function unclosedMistake(said: string): string | undefined {
  const end = /indented and end with a ([}\]])$/.exec(said)?.[1];
  return (
    end &&
    `is where braces or brackets should have ended; close them with a ${end} before it, or indent it`
  );
}

function lineAt(text: string, offset: number): string {
  const [line = ''] = text.slice(text.lastIndexOf('\n', offset - 1) + 1).split('\n', 1);
  return line;
}

/** Where the first mistake is. A line that is indented too far is found as a part of the line before it. */
function placeOf({ errors: [first, second] }: Yaml.Document, text: string): number {
  const offset = first?.pos[0] ?? 0;
  const isTooFar =
    first?.code === 'BLOCK_AS_IMPLICIT_KEY' &&
    second?.code === 'MULTILINE_IMPLICIT_KEY' &&
    second.pos[0] === offset;
  return isTooFar ? text.indexOf('\n', offset) + 1 : offset;
}

/** Where the last quoted text begins. */
function lastQuote(document: Yaml.Document): number | undefined {
  let last: number | undefined;
  yaml().visit(document, {
    Scalar: (_, { range, type }) => {
      if (type?.startsWith('QUOTE') === true) last = range?.[0];
    },
  });
  return last;
}

/** What is wrong with a line or a name that has a character in place of a plain space or colon. */
export function lookalikeMistake(text: string): string | undefined {
  const [found] = LOOKALIKE.exec(text) ?? [];
  if (found === undefined) return undefined;
  const point = found.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
  return `has a character (U+${point}) that only looks like a space or a colon; type a plain one`;
}

/** A colon without the space after it makes a name and its value one word. Only the name is quoted. */
export function gluedMistake(value: unknown): string | undefined {
  const name = typeof value === 'string' ? /^(\w+)(?::[^\s/]|\uff1a)/.exec(value)?.[1] : undefined;
  return name === undefined ? undefined : `needs a space after the colon: "${name}: "`;
}
