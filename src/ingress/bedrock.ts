import Joi from 'joi';
import type { DocumentPart } from '../bytes/index.js';
import { awsError, awsHeaders, isOfAws, modelOfArn } from './aws.js';
import { defineDialect } from './dialect.js';
import { EXAMPLE } from './example.js';
import { plainRequest } from './plain-request.js';
import {
  checkQuery,
  COUNT,
  documentsError,
  fieldsOf,
  fieldsText,
  isRecord,
  maybe,
  membersOf,
  open,
  validate,
  type Members,
  type WantedList,
} from './read.js';
import { rowsJson } from './rows.js';

const SOURCES = [{ name: 'sources', text: 'inlineDocumentSource.textDocument.text' }];

const MEMBERS = membersOf({
  queries: Joi.array<{ readonly textQuery: { readonly text: string } }[]>()
    .length(1)
    .items(open({ textQuery: open({ text: Joi.string().required() }).required() }).required())
    .required(),
  rerankingConfiguration: open({
    bedrockRerankingConfiguration: open({
      modelConfiguration: open({
        modelArn: Joi.string().max(2_048).required(),
        additionalModelRequestFields: maybe(Joi.object<Members>().unknown(true)),
      }).required(),
      numberOfResults: COUNT,
    }).required(),
  }).required(),
});

/** Bedrock's agent runtime: queries and sources wrapped several times, the model in an ARN. */
export const bedrock = defineDialect({
  id: 'bedrock',
  title: 'AWS Bedrock agent runtime',
  lists: SOURCES,
  paths: [],
  claim: { list: 'sources', byHeaders: isOfAws },
  members: MEMBERS,
  examples: [
    {
      queries: [{ type: 'TEXT', textQuery: { text: EXAMPLE.query } }],
      sources: EXAMPLE.texts.map((text) => ({
        type: 'INLINE',
        inlineDocumentSource: { type: 'TEXT', textDocument: { text } },
      })),
      rerankingConfiguration: {
        type: 'BEDROCK_RERANKING_MODEL',
        bedrockRerankingConfiguration: {
          modelConfiguration: { modelArn: 'arn:aws:bedrock:us-west-2::foundation-model/my-model' },
          numberOfResults: 2,
        },
      },
    },
  ],
  parse: (request) => {
    const members = validate(MEMBERS, request.members(), 'queries');
    const query = members.queries[0]?.textQuery.text ?? '';
    checkQuery(query, 'queries');
    const { modelConfiguration, numberOfResults } =
      members.rerankingConfiguration.bedrockRerankingConfiguration;
    const { rank_fields: named } = modelConfiguration.additionalModelRequestFields ?? {};
    const fields = Array.isArray(named)
      ? fieldsOf(named.filter((field) => typeof field === 'string'))
      : undefined;
    const list: WantedList = {
      lists: SOURCES,
      elements: 'objects',
      areTextsAlone: true,
      kinds: 'sources',
      read: (item, index) => readSource(item, index, fields),
    };
    const model = modelOfArn(modelConfiguration.modelArn);
    return plainRequest(list, { model, query }, numberOfResults);
  },
  reply: (_id, _request, ranking) => ({
    results: rowsJson(ranking, (index, score) => `{"index":${index},"relevanceScore":${score}}`),
  }),
  error: awsError,
  headers: awsHeaders,
});

function readSource(
  item: unknown,
  index: number,
  fields: readonly string[] | undefined,
): DocumentPart {
  const source = isRecord(item) ? item.inlineDocumentSource : undefined;
  if (isRecord(source)) {
    const { textDocument, jsonDocument } = source;
    if (isRecord(textDocument) && typeof textDocument.text === 'string') {
      return { text: textDocument.text, source: textDocument.text };
    }
    if (isRecord(jsonDocument)) {
      const text = fieldsText(jsonDocument, fields ?? Object.keys(jsonDocument));
      return { text, source: text };
    }
  }
  throw documentsError(
    `sources[${index}].inlineDocumentSource must have a textDocument with "text", or a jsonDocument.`,
    'sources',
  );
}
