/** The documents of a request, in the two forms that they have: the bytes that arrived, and parsed values. */
export type { DocumentPart, Documents, Shown } from './document-list.js';
export { partDocuments, textDocuments } from './part-documents.js';
export { headedTexts, sentDocuments, sentTexts } from './sent-documents.js';
export { fieldDocuments } from './field-documents.js';
