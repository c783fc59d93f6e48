/**
 * Resolves to whether the clipboard has the text that is promised; it never has what is not `wanted`. Safari lets a page
 * copy only while it handles a press: by the time a link is packed, it is too late, but a promise it takes.
 */
export async function copyPromised(
  text: Promise<string>,
  wanted: Promise<boolean>,
): Promise<boolean> {
  try {
    const part = wanted.then(async (isWanted) => {
      if (!isWanted) throw new RangeError('not to be copied');
      return new Blob([await text], { type: 'text/plain' });
    });
    // A browser that refuses before it looks at the promise leaves it to nobody.
    part.catch(() => undefined);
    await navigator.clipboard.write([new ClipboardItem({ 'text/plain': part })]);
    return true;
  } catch {
    // Without TLS there is no clipboard, and older browsers take no promise: whoever asked tries the other way.
    return false;
  }
}
