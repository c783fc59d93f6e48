import type { EncryptionStore, KeyNote } from '../store.js';
import { change, type Step } from './change.js';
import type { Connection } from './connection.js';
import type { Keys } from './keys.js';
import { pairsOf } from './scripts.js';

export function openEncryption(
  connection: Connection,
  { encryptionMark: markKey, keyNotes: key }: Keys,
): Pick<EncryptionStore, 'encryptionMark' | 'noteKeys' | 'dropKeys'> {
  const { client, answer } = connection;
  return {
    async encryptionMark(claim) {
      if (claim !== undefined) await answer(client.set(markKey, claim, 'NX'));
      return (await answer(client.get(markKey))) ?? undefined;
    },

    noteKeys(note, nowMs, keepMs) {
      return change(connection, [['HGETALL', key]], nowMs, ([found], now) => {
        const notes = pairsOf(found).filter(([nodeId]) => nodeId !== note.nodeId);
        // A note is when it expires, and its record.
        const isLive = (text: string): boolean => Number.parseInt(text, 10) > now;
        const old = notes.filter(([, text]) => !isLive(text));
        const live = notes.filter(([, text]) => isLive(text));
        const writes: Step[] = [
          ...old.map(([nodeId]) => ['HDEL', key, nodeId] as const),
          ['HSET', key, note.nodeId, `${now + keepMs} ${JSON.stringify(note)}`],
        ];
        const read = (text: string) => JSON.parse(text.slice(text.indexOf(' ') + 1)) as KeyNote;
        return { result: live.map(([, text]) => read(text)), writes };
      });
    },

    async dropKeys(nodeId) {
      await answer(client.hdel(key, nodeId));
    },
  };
}
