export interface Price {
  readonly per: 'request' | 'search_unit' | 'million_tokens';
  readonly units: number;
}

/** Documents that one search unit covers. */
const DOCUMENTS_A_UNIT = 100;
const CHARACTERS_A_TOKEN = 4;

/** Estimates the tokens of texts: four letters of an alphabet, or one Chinese, Japanese or Korean character, make one. */
export function aboutTokens(texts: readonly string[]): number {
  let tokens = 0;
  for (const text of texts) {
    const wide = text.match(/[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]/g)?.length ?? 0;
    tokens += wide + Math.ceil((text.length - wide) / CHARACTERS_A_TOKEN);
  }
  return tokens;
}

/** Estimates the units that a ranking will cost: the query counts again with each document. */
export function aboutCost(
  { per, units }: Price,
  query: string,
  documents: readonly string[],
): number {
  switch (per) {
    case 'request':
      return units;
    case 'search_unit':
      return units * Math.ceil(documents.length / DOCUMENTS_A_UNIT);
    case 'million_tokens': {
      const tokens = aboutTokens(documents) + documents.length * aboutTokens([query]);
      return Math.ceil((units * tokens) / 1_000_000);
    }
  }
}
