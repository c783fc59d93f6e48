import { awsError, awsHeaders, modelOfArn } from './aws.js';
import { cohere, parseRerank, RERANK_EXAMPLES, RERANK_MEMBERS } from './cohere.js';
import { defineDialect } from './dialect.js';
import { modelOf } from './read.js';
import { MAIN_ROW, rowsJson } from './rows.js';

/** Cohere's models as Bedrock and SageMaker run them: its request, the model in the path, and AWS's errors. */
export const bedrockInvoke = defineDialect({
  id: 'bedrock-invoke',
  title: 'AWS Bedrock InvokeModel, and SageMaker',
  lists: cohere.lists,
  paths: ['/model/{model+}/invoke', '/endpoints/{model}/invocations'],
  members: RERANK_MEMBERS,
  examples: RERANK_EXAMPLES,
  parse: (request) => {
    const { list, found } = parseRerank(request);
    const model = modelOf(modelOfArn(request.param('model')));
    return { list, found: (documents) => ({ ...found(documents), model }) };
  },
  reply: (id, { documents, returnDocuments }, ranking) => ({
    id,
    results: rowsJson(ranking, MAIN_ROW, returnDocuments ? documents : undefined),
    meta: {
      api_version: { version: '2' },
      billed_units: { search_units: ranking.usage.searchUnits },
    },
  }),
  error: awsError,
  headers: awsHeaders,
});
