/** The documents of a request, in the two forms that they have: the bytes that arrived, and parsed values. */
export type { DocumentPart, Documents, Shown } from './document-list.js';
export { partDocuments, textDocuments } from './part-documents.js';
export { sentDocuments, sentTexts } from './sent-documents.js';
export { fieldDocuments, lineDocuments } from './field-documents.js';
export { elementDocuments } from './element-documents.js';
export { imageDocuments, TEXT_AND_IMAGE } from './image-documents.js';
export { areAlike } from './field-places.js';
