/** The door of this room: other folders import nothing else of it. README.md lists its promises. */
export { openBody, type OpenBody } from './body.js';
export type { ListPlace } from './scanner.js';
export type { DocumentPart, Documents } from './documents.js';
export { documentsOf } from './documents-of.js';
export { JsonFragment, type JsonBody } from './fragment.js';
export { writeJson } from './write.js';
export { readRows, withoutLongTexts } from './replies.js';
export { NumberRows } from './rows.js';
