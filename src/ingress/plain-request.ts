import type { Asked, ParsedRerank } from './dialect.js';
import { checkQuery, modelOf, topOf, type WantedList } from './read.js';

/**
 * The request of a plain form: a list of documents to rank, at most `top` rows in return, without their documents and
 * with no options unless `more` says otherwise. The query is judged before the documents are found.
 */
export function plainRequest<Kept = undefined>(
  list: WantedList,
  { model, query }: { readonly model?: string | null | undefined; readonly query: string },
  top: number | null | undefined,
  more: Partial<ParsedRerank<Kept>> = {},
): Asked<Kept> {
  checkQuery(query);
  return {
    list,
    found: (documents) => ({
      model: modelOf(model),
      query: query.toWellFormed(),
      documents,
      topN: topOf(top, documents),
      returnDocuments: false,
      options: {},
      ...more,
    }),
  };
}
