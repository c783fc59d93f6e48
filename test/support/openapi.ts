/** A published document with each reference replaced by what it refers to. */
export function resolved(document: object): unknown {
  const inside = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inside);
    if (typeof value !== 'object' || value === null) return value;
    if (!('$ref' in value)) {
      return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, inside(one)]));
    }
    const { $ref, ...beside } = value;
    return { ...(inside(referredTo(document, String($ref))) as object), ...beside };
  };
  return inside(document);
}

function referredTo(document: object, ref: string): unknown {
  let found: unknown = document;
  for (const name of ref.replace('#/', '').split('/')) {
    found = (found as Readonly<Record<string, unknown>>)[name];
    if (found === undefined) throw new Error(`${ref} leads nowhere.`);
  }
  return found;
}
