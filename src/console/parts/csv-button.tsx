import { useState } from 'preact/hooks';
import { ApiError } from '../api/call.js';
import { w } from '../words.js';
import { Button } from './buttons.js';
import { messageOf } from './notices.js';
import { toast } from './toast.js';

/** Saves what a list shows as a file; why there is none is told. */
export function CsvButton({ save }: { readonly save: () => Promise<void> }) {
  const [busy, setBusy] = useState(false);
  async function run(): Promise<void> {
    setBusy(true);
    try {
      await save();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      toast(messageOf(error));
    } finally {
      setBusy(false);
    }
  }
  return (
    <Button disabled={busy} onClick={() => void run()}>
      {w().csv}
    </Button>
  );
}
