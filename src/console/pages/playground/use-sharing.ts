import { useEffect, useState } from 'preact/hooks';
import { save } from '../../api/call.js';
import { MAX_LINK, readShared, shareText, type LinkFault, type Shared } from '../../lib/share.js';
import { copyText } from '../../parts/buttons.js';
import { toast } from '../../parts/toast.js';
import { hrefOf, useFragment } from '../../router.js';
import { w, wp } from '../../words.js';
import { copyPromised } from './clipboard.js';

/** Reads what the link brought by which the page was opened. */
export function useLink(put: (shared: Shared) => void): {
  readonly reading: boolean;
  readonly fault: LinkFault | undefined;
  readonly forget: () => void;
} {
  const fragment = useFragment();
  const [reading, setReading] = useState(fragment !== '');
  const [fault, setFault] = useState<LinkFault>();
  useEffect(() => {
    if (fragment === '') return undefined;
    let isLatest = true;
    setReading(true);
    void readShared(fragment).then((shared) => {
      if (!isLatest) return;
      setReading(false);
      if (typeof shared === 'string') setFault(shared);
      else put(shared);
    });
    return () => {
      isLatest = false;
    };
  }, [fragment]);
  return { reading, fault, forget: () => setFault(undefined) };
}

export function saveShared(whole: Shared): void {
  save('playground.json', new Blob([JSON.stringify(whole)], { type: 'application/json' }));
}

/** Copies a link to what is shared; what is too long for one is saved as `whole` says. */
export async function share(content: Shared, whole: () => Shared): Promise<void> {
  const packed = shareText(content);
  const isShort = packed.then(({ length }) => length <= MAX_LINK);
  const address = packed.then((link) => `${location.origin}${hrefOf('playground')}#${link}`);
  if (await copyPromised(address, isShort)) {
    toast(w().copied);
  } else if (await isShort) {
    await copyText(await address);
  } else {
    saveShared(whole());
    toast(wp().playground.tooLong);
  }
}
