/** The members of nearly every request, which has no others. Clients that know all of a form send `null` for some. */
const PLAIN: ReadonlySet<string> = new Set([
  ...['model', 'query', 'top_n', 'return_documents'],
  ...['max_tokens_per_doc', 'max_chunks_per_doc', 'rank_fields', 'user'],
]);
const MAX_MODEL_CHARACTERS = 256;

/**
 * Whether a request has only the usual few members, all valid, so that the schema can be skipped: walking it costs more
 * than all the rest of reading a small request. `false` says nothing about them; the schema decides.
 */
export function arePlain(members: Readonly<Record<string, unknown>>): boolean {
  const { model, query, return_documents: echo, rank_fields: fields } = members;
  if (typeof query !== 'string' || query === '') return false;
  if (typeof model === 'string' ? model.length > MAX_MODEL_CHARACTERS : model != null) return false;
  if (!isCount(members.top_n)) return false;
  if (!isCount(members.max_tokens_per_doc) || !isCount(members.max_chunks_per_doc)) return false;
  if (echo != null && typeof echo !== 'boolean') return false;
  if (fields != null && !areFields(fields)) return false;
  for (const name in members) if (!PLAIN.has(name)) return false;
  return true;
}

function isCount(value: unknown): boolean {
  return value == null || (Number.isSafeInteger(value) && (value as number) >= 1);
}

const MAX_FIELDS = 8;

/** A few names. An older client of Cohere names `text` if nothing else is named. */
function areFields(fields: unknown): boolean {
  return (
    Array.isArray(fields) &&
    fields.length <= MAX_FIELDS &&
    fields.every((name) => typeof name === 'string' && name !== '')
  );
}
