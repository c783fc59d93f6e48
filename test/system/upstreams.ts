/** A request that every channel of these tests can rank. */
export function rerankBody(model: string, query = 'red apple'): Record<string, unknown> {
  return { model, query, documents: ['a green pear', 'a red apple', 'a red car'] };
}
