import type { ReplyStore } from '../store.js';
import type { Connection } from './connection.js';
import { REPLY_PARTS, type Keys } from './keys.js';
import { listOf, numberOf, run, SCRIPTS, textOf } from './scripts.js';

export function openReplies(connection: Connection, keys: Keys): ReplyStore {
  const { told } = connection;
  return {
    async findReply(name, nowMs) {
      const found = await run(connection, SCRIPTS.findReply, keys.replies(name), [
        ...[told(nowMs), name],
      ]);
      if (found === null) return undefined;
      const [left, text] = listOf(found);
      return { text: textOf(text), leftMs: numberOf(left) };
    },

    async keepReply(name, text, nowMs, forMs, most) {
      const share = Math.ceil(most / REPLY_PARTS);
      await run(connection, SCRIPTS.keepReply, keys.replies(name), [
        ...[told(nowMs), name, text, forMs, share],
      ]);
    },
  };
}
