import { apiKeysOf } from '../core/api-keys.js';
import { snakeCase } from '../core/records.js';
import type { Endpoint } from './provider.js';

/** Words that precede a key in a header and are mistaken for a part of it. */
const SCHEME = /^(bearer|basic|apikey)\s+\S/i;

/** `$NAME`, `${NAME}`, `$(NAME)`, `{{ name }}`, `%NAME%`, `env:NAME`, `os.environ/NAME`: variables of other programs. */
const VARIABLE =
  /^(?:\$(?:[A-Z][A-Z0-9_]*|[a-z][a-z0-9]*(?:_[a-z0-9]+)+)|\$\{.*\}|\{\{.*\}\}|%[A-Z][A-Z0-9_]*%|\$\(\w+\)|(?:env:|os\.environ\/|process\.env\.)\w+)$/;

const PLACEHOLDER =
  /^(?:<.*>|\[.*\]|your[-_ ]?\w*[-_ ](?:key|token|secret)(?:[-_ ]here)?|change[-_ ]?me|(?:sk-)?x{4,}|\.{3}|…)$/i;

/**
 * One sentence for each credential that is a stand-in rather than a secret, without quoting it. Credentials are judged when
 * somebody enters them; stored ones may work for reasons unknown here.
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

/** `bringsScheme`: the channel sends the credential as the header itself. */
function formMistake(text: string, bringsScheme: boolean): string | undefined {
  if (VARIABLE.test(text)) {
    return 'is the name of a variable in place of its value; in a file, ${NAME} stands for the value of NAME';
  }
  const scheme = SCHEME.exec(text)?.[1];
  if (scheme !== undefined && !bringsScheme) {
    return `begins with "${scheme}", which the gateway adds itself; give only what comes after it`;
  }
  if (PLACEHOLDER.test(text)) return 'is a placeholder; give the secret itself';
  const unsendable = /[^\0-\xff]/u.exec(text)?.[0].codePointAt(0);
  if (unsendable !== undefined) {
    return `has the character U+${unsendable.toString(16).toUpperCase().padStart(4, '0')}, which no header can carry; copy the secret again`;
  }
  return undefined;
}
