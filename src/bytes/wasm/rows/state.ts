/** What is known of the list while it is read. */

/** What `read` returns for whatever it leaves to the plain parser. */
export const FAILED: i32 = -1;
/** The end of the window cuts a row. */
export const CUT: i32 = -2;
/** Likewise, where the first row has no number: another list may be the ranking. */
export const NO_NUMBER: i32 = -3;
/** Of the form; 0 if there is none. */
export let columns: i32 = 0;
export let members: i32 = 0;
/** Of the last `read`. */
export let numbers: i32 = 0;
export let isNew: bool = false;
export let isStrange: bool = false;
/** A bit for each column: whether it had numbers of digits alone, and numbers with a fraction or an exponent. */
export let wholeSeen: i32 = 0;
export let fractionSeen: i32 = 0;
/** How many numbers of the last `read` the host has to read itself. */
export let unread: i32 = 0;
