export { OPEN_POLICY } from '../../src/core/token.js';
