import { apiKeysOf } from '../core/api-keys.js';
import { snakeCase } from '../core/records.js';
import type { Endpoint } from './provider.js';

/** Words that stand before a key in a header, and are taken for a part of it. */
const SCHEME = /^(bearer|basic|apikey)\s+\S/i;

/** `$NAME`, `${NAME}`, `%NAME%`, `env:NAME`: what some other program would have replaced. */
const VARIABLE =
  /^(?:\$(?:[A-Z][A-Z0-9_]*|[a-z][a-z0-9]*(?:_[a-z0-9]+)+)|\$\{.*\}|%[A-Z][A-Z0-9_]*%|env:\w+)$/;

const PLACEHOLDER =
  /^(?:<.*>|\[.*\]|your[-_ ]?\w*[-_ ](?:key|token|secret)(?:[-_ ]here)?|change[-_ ]?me|x{4,}|\.{3}|…)$/i;

/**
 * Credentials that are no secrets but what stands for one: a sentence each, which does not quote them. Judged where somebody
 * gives them; what is stored already may work for reasons of its own.
 */
export function credentialMistakes({
  credentials,
  settings,
}: Pick<Endpoint, 'credentials' | 'settings'>): string[] {
  return Object.entries(credentials).flatMap(([name, secret]) => {
    const texts = name === 'apiKey' ? apiKeysOf(secret) : [secret];
    const wrong = texts
      .map((each) => formMistake(each.reveal(), settings.authorizationScheme === ''))
      .find((mistake) => mistake !== undefined);
    return wrong === undefined ? [] : [`credentials.${snakeCase(name)} ${wrong}`];
  });
}

/** `bringsScheme`: the channel sends the credential as the whole header. */
function formMistake(text: string, bringsScheme: boolean): string | undefined {
  if (VARIABLE.test(text)) {
    return 'is the name of a variable in place of its value; in a file, ${NAME} stands for the value of NAME';
  }
  const scheme = SCHEME.exec(text)?.[1];
  if (scheme !== undefined && !bringsScheme) {
    return `begins with "${scheme}", which the gateway puts before it; give what comes after it alone`;
  }
  if (PLACEHOLDER.test(text)) return 'is a placeholder; give the secret itself';
  return undefined;
}
