import { encodeReply } from '../bytes/encode.js';
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
    const parsed = parseWithDocuments(request);
    const { task } = request.members(cohere.lists);
    if (typeof task !== 'string' || task === '') return parsed;
    return { ...parsed, options: { ...parsed.options, instruction: task.toWellFormed() } };
  },
  reply: (id, request, ranking) =>
    encodeReply({ object: 'list', id, ...rowsTwice(request, ranking) }),
  error: cohere.error,
});
