import { fetch } from 'undici';
import type { Target } from './callers.js';

interface Envelope {
  readonly success: boolean;
  readonly message?: string;
  readonly data?: unknown;
}

/** The management API of whichever gateway is there, with a login that holds on all of them. */
export class Management {
  readonly #targets: () => readonly Target[];
  readonly #pick: (targets: readonly Target[]) => Target;
  #token = '';

  constructor(targets: () => readonly Target[], pick: (targets: readonly Target[]) => Target) {
    this.#targets = targets;
    this.#pick = pick;
  }

  async logIn(username: string, password: string): Promise<void> {
    const { port } = this.#pick(this.#targets());
    const url = `http://127.0.0.1:${port}/api/user`;
    const reply = await fetch(`${url}/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username, password }),
    });
    const cookie = (reply.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
    const made = await fetch(`${url}/token`, { method: 'POST', headers: { cookie } });
    const { data } = (await made.json()) as Envelope;
    this.#token = String(data);
  }

  /** Resolves to what was answered; rejects where that is an error, or where nothing was. */
  async call<T>(method: 'GET' | 'POST' | 'PUT', path: string, body?: unknown): Promise<T> {
    const { port } = this.#pick(this.#targets());
    const reply = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(20_000),
    });
    const { success, message, data } = (await reply.json()) as Envelope;
    if (!success) throw new Refused(`${method} ${path}: ${message ?? ''}`, reply.status);
    // The shape is what the operation answers.
    return data as T;
  }
}

/** The gateway has answered with an error. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}
