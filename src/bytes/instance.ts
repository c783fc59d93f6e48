/** Every engine has it, but only browsers' type definitions declare it. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: object };
};

/** What every module exports: its memory, and where in it something lies or how large it is. */
export interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer };
}

export interface Constant {
  readonly value: number;
}

/** A module of `src/bytes/wasm`, in base64. Each instance has its own memory. */
export class Compiled<T extends Exports> {
  readonly #text: string;
  #module: object | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  instance(): T {
    this.#module ??= new WebAssembly.Module(Buffer.from(this.#text, 'base64'));
    return new WebAssembly.Instance(this.#module).exports as T;
  }
}
