/** A wait between two tries that the end of the process cuts short. */
export class Nap {
  #end: (() => void) | undefined;

  take(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#end = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Ends the wait, if there is one. */
  wake(): void {
    this.#end?.();
  }
}
