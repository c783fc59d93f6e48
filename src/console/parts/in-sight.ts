import { useLayoutEffect } from 'preact/hooks';
import type { ApiError } from '../api/call.js';

/** Scrolls a form to what became of a write that was refused, wherever in the form it is told. */
export function useInSight(
  error: ApiError | undefined,
  formOf: () => Element | null | undefined,
): void {
  useLayoutEffect(() => {
    if (error === undefined) return;
    const alert = formOf()?.querySelector('[role=alert]');
    alert?.closest('details')?.setAttribute('open', '');
    (alert?.closest('.field') ?? alert)?.scrollIntoView({ block: 'nearest' });
  }, [error]);
}
