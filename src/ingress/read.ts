/** What forms share: a request read as far as they need, members by a schema, and lists of documents. */
export { isRecord } from '../core/records.js';
export { IngressRequest, type RequestHeaders, type Members } from './request.js';
export {
  COUNT,
  FLAG,
  TEXT,
  MODEL,
  QUERY,
  FIELDS,
  TEXT_OR_TEXTS,
  maybe,
  open,
  membersOf,
  modelOf,
  topOf,
  fieldsOf,
  validate,
  checkQuery,
  oneQuery,
  type Of,
} from './members.js';
export {
  findDocuments,
  listNames,
  stringsIn,
  objectsIn,
  textPart,
  stringPart,
  anyPart,
  fieldsText,
  documentsError,
  type WantedList,
} from './document-lists.js';
