import type { EncryptionStore, KeyNote } from '../store.js';
import type { Database } from './database.js';

export function openEncryption(
  database: Database,
): Pick<EncryptionStore, 'encryptionMark' | 'noteKeys' | 'dropKeys'> {
  const readMark = database.prepare<{ readonly mark: string }>('SELECT mark FROM encryption_mark');
  const claimMark = database.prepare<never>(
    'INSERT OR IGNORE INTO encryption_mark (only_row, mark) VALUES (1, ?)',
  );
  const dropOldNotes = database.prepare<never>('DELETE FROM key_notes WHERE expires_at_ms <= ?');
  const keyNotes = database.prepare<{ readonly note: string }>(
    'SELECT note FROM key_notes WHERE id <> ?',
  );
  const putNote = database.prepare<never>(
    'INSERT OR REPLACE INTO key_notes (id, expires_at_ms, note) VALUES (?, ?, ?)',
  );
  const dropNote = database.prepare<never>('DELETE FROM key_notes WHERE id = ?');

  return {
    encryptionMark: (claim) =>
      claim === undefined
        ? database.read(() => readMark.get()?.mark)
        : database.write(() => {
            claimMark.run(claim);
            return readMark.get()?.mark;
          }),

    noteKeys: (note, nowMs, keepMs) =>
      database.write(() => {
        dropOldNotes.run(nowMs);
        const earlier = keyNotes.all(note.nodeId);
        putNote.run(note.nodeId, nowMs + keepMs, JSON.stringify(note));
        return earlier.map(({ note: text }) => JSON.parse(text) as KeyNote);
      }),

    dropKeys: (nodeId) =>
      database.write(() => {
        dropNote.run(nodeId);
      }),
  };
}
