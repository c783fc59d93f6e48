import DataHandlerModule from 'ioredis/built/DataHandler.js';

/** The part of the client that gives answers to the commands that wait for them, in their order. */
interface Handler {
  readonly redis: {
    readonly stream: { destroy(error: Error): void };
    readonly commandQueue: { readonly length: number };
  };
  shiftCommand: (this: Handler, reply: unknown) => unknown;
}

const { prototype } = DataHandlerModule.default as unknown as { readonly prototype: Handler };
const original = prototype.shiftCommand;

/**
 * Drops a connection on which an answer comes that no command waits for: it may be out of step with its commands. The client goes
 * on with it, and an answer of nil even ends the process, since the client's complaint quotes it. An error keeps its way: it says
 * why a server takes no connection.
 */
prototype.shiftCommand = function shiftCommand(this: Handler, reply: unknown): unknown {
  if (this.redis.commandQueue.length > 0 || reply instanceof Error) {
    return original.call(this, reply);
  }
  this.redis.stream.destroy(new Error('Redis sent an answer that nobody waits for'));
  return null;
};
