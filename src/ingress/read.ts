/** What forms share: a request read as far as they need, members by a schema, and lists of documents. */
export { areTextsAlone, listName, type ScannedBody } from '../bytes/scan.js';
export { isRecord } from '../core/records.js';
export { IngressRequest, type RequestHeaders, type Members } from './request.js';
export {
  COUNT,
  FLAG,
  TEXT,
  MODEL,
  QUERY,
  FIELDS,
  membersOf,
  modelOf,
  topOf,
  fieldsOf,
  areTexts,
  validate,
  checkQuery,
  oneQuery,
} from './members.js';
export {
  listNames,
  stringList,
  objectList,
  readDocuments,
  writeDocuments,
  documentsByFields,
  documentsWithImages,
  alikeDocuments,
  stringElements,
  refuseTextless,
  scannedDocuments,
  scannedTexts,
  areObjects,
  checkCount,
  stringPart,
  textPart,
  anyPart,
  fieldsText,
  documentsError,
} from './document-lists.js';
