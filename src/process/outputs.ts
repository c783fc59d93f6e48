import { systemCode } from '../core/errors.js';

/** Keeps the process alive when whoever read its output has gone, as `npm start 2>&1 | head` does. */
export function outliveReaders(): void {
  for (const output of [process.stdout, process.stderr]) {
    output.on('error', (error) => {
      if (systemCode(error) !== 'EPIPE') throw error;
    });
  }
}
