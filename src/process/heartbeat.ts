/** The fate of workers that do not answer. */
export interface HeartbeatSigns<T> {
  readonly ask: (one: T) => void;
  /** It has been silent for a while. */
  readonly onSilent: (one: T) => void;
  /** It was silent, and answers again. */
  readonly onBack: (one: T) => void;
  /** It has been silent for too long to wait for it. */
  readonly onLost: (one: T) => void;
}

/** How many beats without an answer count as silence, and after how many more of them nobody waits any longer. */
export interface Patience {
  readonly silentAfter: number;
  readonly lostAfter: number;
}

/**
 * Asks everyone at each beat and notices who does not answer. Counts beats and not time: whoever was suspended together with
 * this process has missed none.
 */
export class Heartbeat<T> {
  readonly #signs: HeartbeatSigns<T>;
  readonly #patience: Patience;
  readonly #unanswered = new Map<T, number>();

  constructor(signs: HeartbeatSigns<T>, patience: Patience) {
    this.#signs = signs;
    this.#patience = patience;
  }

  follow(one: T): void {
    this.#unanswered.set(one, 0);
  }

  leave(one: T): void {
    this.#unanswered.delete(one);
  }

  beat(): void {
    const { silentAfter, lostAfter } = this.#patience;
    for (const [one, unanswered] of this.#unanswered) {
      if (unanswered === silentAfter) this.#signs.onSilent(one);
      if (unanswered === lostAfter) this.#signs.onLost(one);
      // One question at a time: they would pile up.
      if (unanswered === 0) this.#signs.ask(one);
      this.#unanswered.set(one, unanswered + 1);
    }
  }

  heard(one: T): void {
    const unanswered = this.#unanswered.get(one);
    if (unanswered === undefined) return;
    this.#unanswered.set(one, 0);
    if (unanswered > this.#patience.silentAfter) this.#signs.onBack(one);
  }
}
