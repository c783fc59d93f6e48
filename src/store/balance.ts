/** `set` replaces a balance, `add` moves it (and may be negative): both atomically against running traffic. */
export type QuotaChange = { readonly set: number } | { readonly add: number };
