import type { ListName } from '../bytes/scan.js';
import type { ParsedRerank } from './dialect.js';
import { checkQuery, modelOf, stringList, topOf, type IngressRequest } from './read.js';

/**
 * What a plain form asks for: a ranking of a list of strings, named as one of `names`, of which at most `top` rows return,
 * without their documents and with no options. The query is judged before the documents are read.
 */
export function plainRequest(
  request: IngressRequest,
  names: readonly ListName[],
  { model, query }: { readonly model?: string | null; readonly query: string },
  top: number | null | undefined,
): Omit<ParsedRerank, 'kept'> {
  checkQuery(query);
  const documents = stringList(request, names);
  return {
    model: modelOf(model),
    query: query.toWellFormed(),
    documents,
    topN: topOf(top, documents),
    returnDocuments: false,
    options: {},
  };
}
