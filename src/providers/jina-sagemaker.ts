import { findRows, objectsOf, readAnyRows, readUsage } from './dialects.js';
import { defineProvider, onlyFor, OPTIONAL_API_KEY } from './provider.js';
import { SELF_HOSTED } from './self-hosted.js';

const IMAGE_MODELS = /reranker-m0/;

/** The container of Jina's rerankers for SageMaker, called directly: request and reply are inside `data`. */
export const jinaSagemaker = defineProvider({
  id: 'jina-sagemaker',
  title: 'Jina reranker container (SageMaker)',
  path: '/invocations',
  credentials: OPTIONAL_API_KEY,
  body: ({ model, query, documents, topN }) => {
    const data = { documents: objectsOf(documents), query, top_n: topN };
    return { data: model.includes('reranker-m0') ? [data] : data };
  },
  decode: (reply, { documents }) => {
    const data = reply.field('data');
    // One reply per entry of the request if that was a list, otherwise the reply itself.
    const first = data.isArray() && data.count() === 1 ? data.first() : data;
    const rows = findRows(first.maybe('results').isArray() ? first : data);
    return { rows: readAnyRows(rows, documents.count), usage: readUsage(reply) };
  },
  profile: {
    ...SELF_HOSTED,
    truncates: true,
    echo: 'always',
    documents: { objects: true, images: onlyFor(IMAGE_MODELS) },
  },
  exampleModels: ['jina-reranker-v2-base-multilingual', 'jina-reranker-m0'],
  notes: [
    'For a container that the gateway reaches directly; an endpoint of the platform requires signed requests and is not supported.',
  ],
});
