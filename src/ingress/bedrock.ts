import Joi from 'joi';
import type { DocumentPart, Documents } from '../bytes/documents.js';
import { encodeReply } from '../bytes/encode.js';
import { awsError, awsHeaders, isOfAws, modelOfArn } from './aws.js';
import { defineDialect } from './dialect.js';
import { EXAMPLE } from './example.js';
import {
  alikeDocuments,
  areObjects,
  checkQuery,
  COUNT,
  documentsError,
  fieldsOf,
  fieldsText,
  isRecord,
  listName,
  membersOf,
  writeDocuments,
  scannedTexts,
  topOf,
  validate,
  type IngressRequest,
  type Members,
} from './read.js';
import { rowsJson } from './rows.js';

interface BedrockMembers {
  readonly queries: { readonly textQuery: { readonly text: string } }[];
  readonly rerankingConfiguration: {
    readonly bedrockRerankingConfiguration: {
      readonly modelConfiguration: {
        readonly modelArn: string;
        readonly additionalModelRequestFields?: Members | null;
      };
      readonly numberOfResults?: number | null;
    };
  };
}

const SOURCES = [listName('sources', { text: 'inlineDocumentSource.textDocument.text' })];

const open = (members: Joi.PartialSchemaMap) => Joi.object(members).unknown(true).required();

const MEMBERS = membersOf<BedrockMembers>({
  queries: Joi.array()
    .length(1)
    .items(open({ textQuery: open({ text: Joi.string().required() }) }))
    .required(),
  rerankingConfiguration: open({
    bedrockRerankingConfiguration: open({
      modelConfiguration: open({
        modelArn: Joi.string().max(2_048).required(),
        additionalModelRequestFields: Joi.object().unknown(true).allow(null),
      }),
      numberOfResults: COUNT,
    }),
  }),
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
    const members = validate(MEMBERS, request.members(SOURCES), 'queries');
    const query = members.queries[0]?.textQuery.text ?? '';
    checkQuery(query, 'queries');
    const { modelConfiguration, numberOfResults } =
      members.rerankingConfiguration.bedrockRerankingConfiguration;
    const { rank_fields: named } = modelConfiguration.additionalModelRequestFields ?? {};
    const fields = Array.isArray(named)
      ? fieldsOf(named.filter((field) => typeof field === 'string'))
      : undefined;
    const documents = sourcesOf(request, fields);
    return {
      model: modelOfArn(modelConfiguration.modelArn),
      query: query.toWellFormed(),
      documents,
      topN: topOf(numberOfResults, documents),
      returnDocuments: false,
      options: {},
    };
  },
  reply: (_id, _request, ranking) =>
    encodeReply({
      results: rowsJson(ranking, (index, score) => `{"index":${index},"relevanceScore":${score}}`),
    }),
  error: awsError,
  headers: awsHeaders,
});

function sourcesOf(request: IngressRequest, fields: readonly string[] | undefined): Documents {
  const scanned = request.scanAny(SOURCES);
  if (scanned !== undefined && areObjects(scanned)) {
    return scannedTexts(scanned, request.maxDocuments);
  }
  return (
    jsonSources(request, fields) ??
    writeDocuments(request, 'sources', 'sources', (item, index) => readSource(item, index, fields))
  );
}

/** What leads to the members of a source that is JSON. */
const JSON_PATH = 'inlineDocumentSource.jsonDocument';

/** JSON documents that all have the same members, in the same order, in the caller's bytes; `undefined` if the body has to be parsed. */
function jsonSources(
  request: IngressRequest,
  fields: readonly string[] | undefined,
): Documents | undefined {
  return alikeDocuments(request, SOURCES, { path: JSON_PATH, membersOf: jsonOf, fields });
}

/** The JSON of a source. One that has a text too is ranked by that: where all are alike, they had texts and are not here. */
function jsonOf(first: Members): Members {
  const { inlineDocumentSource: source } = first;
  const jsonDocument = isRecord(source) ? source.jsonDocument : undefined;
  return isRecord(jsonDocument) ? jsonDocument : {};
}

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
