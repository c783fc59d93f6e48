import { cutToTokens, mostTokens, unitsBeyond } from '../../core/tokens.js';
import { CredentialError, textSetting, type Prompts, type UpstreamCall } from '../provider.js';
import { RankingFault } from '../../rankers/ranker.js';

/** A model's prompt, with the query and the passages in it. */
export interface Prompt {
  readonly system: string;
  readonly user: string;
}

/** A prompt's file: the system's part and the user's part, each below its heading. */
const PARTS = /^\s*\[system\]\s*\n([\s\S]*?)\n\[user\]\s*\n([\s\S]*)$/;
const PLACES = /\{(count|query|passages|instruction)\}/g;

/**
 * Puts the query and the passages into a prompt. A passage is enclosed in tags that it cannot close, and is never searched
 * for placeholders.
 * @throws CredentialError if the prompt that the channel names does not exist or is malformed.
 */
export function promptOf(
  prompts: Prompts,
  { query, options, settings }: Pick<UpstreamCall, 'query' | 'options' | 'settings'>,
  passages: readonly string[],
): Prompt {
  const name = textSetting(settings, 'prompt');
  const file = prompts(name);
  if (file === undefined) throw new CredentialError(`settings.prompt: there is no ${name}.txt`);
  const [, system = '', user = ''] = PARTS.exec(file.replaceAll('\r\n', '\n')) ?? [];
  if (!user.includes('{passages}') || !user.includes('{query}')) {
    throw new CredentialError(
      `settings.prompt: ${name}.txt needs [system], and [user] with {query} and {passages}`,
    );
  }
  const values: Readonly<Record<string, string>> = {
    count: String(passages.length),
    query: harmless(query),
    passages: passages
      .map((text, at) => `<passage id="${at + 1}">\n${harmless(text)}\n</passage>`)
      .join('\n'),
    instruction: options.instruction ?? '',
  };
  const fill = (text: string): string =>
    text.replace(PLACES, (_, place: string) => values[place] ?? '');
  return { system: fill(system).trim(), user: fill(user).trim() };
}

/** The same text, unable to open or close the tags around it. */
function harmless(text: string): string {
  return text.toWellFormed().replace(/<(?=\s*\/?\s*(passage|query)\b)/gi, '‹');
}

/**
 * The text, cut to at most `most` tokens.
 * @throws RankingFault if it may be longer and the caller wants nothing cut.
 */
export function fitted(
  text: string,
  most: number,
  { options }: Pick<UpstreamCall, 'options'>,
): string {
  if (options.truncation !== false) return cutToTokens(text, most);
  if (mostTokens(text, most) > most) {
    throw new RankingFault(
      'limit',
      `A text may be longer than the ${most} tokens that it has room for.`,
    );
  }
  return text;
}

/** The same for a document, which is not read much beyond that limit, and whether it was cut. */
export function fittedDocument(
  call: UpstreamCall,
  index: number,
  most: number,
): { readonly text: string; readonly isCut: boolean } {
  const beginning = call.documents.text(index, unitsBeyond(most));
  const text = fitted(beginning, most, call);
  return { text, isCut: text.length < beginning.length };
}
