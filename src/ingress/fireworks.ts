import { cohere, parseWithDocuments, RERANK_EXAMPLES, RERANK_MEMBERS } from './cohere.js';
import { rowsTwice } from './combined.js';
import { defineDialect } from './dialect.js';
import { TEXT } from './read.js';

/** Fireworks: rows as `data`, an instruction as `task`, and documents unless the request declines them. Some of its clients read `results`. */
export const fireworks = defineDialect({
  id: 'fireworks',
  title: 'Fireworks AI',
  lists: cohere.lists,
  paths: ['/inference/v1/rerank'],
  members: RERANK_MEMBERS.append({ task: TEXT }),
  examples: RERANK_EXAMPLES,
  parse: (request) => {
    const asked = parseWithDocuments(request);
    const { task } = request.members();
    if (typeof task !== 'string' || task === '') return asked;
    return {
      list: asked.list,
      found: (documents) => {
        const parsed = asked.found(documents);
        return { ...parsed, options: { ...parsed.options, instruction: task.toWellFormed() } };
      },
    };
  },
  reply: (id, request, ranking) => ({ object: 'list', id, ...rowsTwice(request, ranking) }),
  error: cohere.error,
});
