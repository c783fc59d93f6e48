import { sentDocuments, type Documents } from '../../src/bytes/documents.js';
import { scanBody } from '../../src/bytes/scan.js';
import { NewTexts } from '../../src/bytes/written-texts.js';
import { atOnce } from '../../src/bytes/steps.js';

/** Documents as they come in a body, from the JSON of their list. */
export function documentsIn(list: string | Buffer): Documents {
  const scanned = scanBody(Buffer.from(`{"documents":${list.toString()}}`));
  if (scanned === undefined) throw new Error('the list is not one that is kept as bytes');
  return sentDocuments(scanned);
}

export function newTexts(texts: readonly (readonly [index: number, text: string])[]): NewTexts {
  const all = new NewTexts();
  for (const [index, text] of texts) all.set(index, text);
  return all;
}

/** The documents with other texts, by index. */
export function withTexts(
  documents: Documents,
  ...texts: Parameters<typeof newTexts>[0]
): Documents {
  return atOnce(documents.withTextsInSteps(newTexts(texts)));
}

/** A body that means the same, but is left to the plain parser: what comes first under the list's name is no list. */
export function leftToParser(body: string, list: string): string {
  return body.replace('{', `{"${list.replace(/\..*$/, '')}":0,`);
}
