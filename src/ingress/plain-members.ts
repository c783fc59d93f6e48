/** The members of nearly every request, which has no others. */
const PLAIN: ReadonlySet<string> = new Set(['model', 'query', 'top_n', 'return_documents']);
const MAX_MODEL_CHARACTERS = 256;

/**
 * Whether a request has only the usual few members, all valid, so that the schema can be skipped: walking it costs more
 * than all the rest of reading a small request. `false` says nothing about them; the schema decides.
 */
export function arePlain(members: Readonly<Record<string, unknown>>): boolean {
  const { model, query, top_n: topN, return_documents: echo } = members;
  if (typeof query !== 'string' || query === '') return false;
  if (typeof model === 'string' ? model.length > MAX_MODEL_CHARACTERS : model !== undefined) {
    return false;
  }
  if (topN !== undefined && !(Number.isSafeInteger(topN) && (topN as number) >= 1)) return false;
  if (echo !== undefined && typeof echo !== 'boolean') return false;
  for (const name in members) if (!PLAIN.has(name)) return false;
  return true;
}
