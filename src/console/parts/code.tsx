import { useState } from 'preact/hooks';
import { about } from '../about.js';
import { useRead } from '../api/query.js';
import {
  ANY_KEY,
  bodyFor,
  codeFor,
  needsModel,
  type CodeLanguage,
  type NamesModels,
} from '../lib/snippets.js';
import { gatewayAddress } from '../router.js';
import { wp } from '../words.js';
import { CodeBox } from './buttons.js';
import { Segments } from './fields.js';

/** A request as code, in the programming language that the reader picks. */
export function RequestCode({
  body,
  apiKey,
  asLogin,
}: {
  readonly body: Readonly<Record<string, unknown>>;
  readonly apiKey?: string | undefined;
  readonly asLogin?: boolean;
}) {
  const [language, setLanguage] = useState<CodeLanguage>('curl');
  return (
    <div class="stack">
      <Segments
        label={wp().code.language}
        value={language}
        choices={[
          { value: 'curl', label: 'curl' },
          { value: 'typescript', label: 'TypeScript' },
          { value: 'python', label: 'Python' },
        ]}
        onChange={setLanguage}
      />
      <CodeBox
        text={codeFor(language, { address: gatewayAddress(), body, key: apiKey, asLogin })}
      />
    </div>
  );
}

/** The example as code, with a model that the key may name; without a key, one that works with every key. */
export function KeyCode({
  of: key = ANY_KEY,
  apiKey,
}: {
  readonly of?: NamesModels & { readonly id?: number };
  readonly apiKey?: string;
}) {
  const byDefault = about.get()?.default_model ?? null;
  const isBound = key.tags.length > 0;
  const { data: models = [] } = useRead(
    'listOwnModels',
    isBound && key.id !== undefined ? { query: { token_id: key.id } } : {},
    { enabled: isBound || needsModel(key, byDefault) },
  );
  const live = models.filter((model) => model.live).map(({ id }) => id);
  return <RequestCode body={bodyFor(key, byDefault, live)} apiKey={apiKey} />;
}
