import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import type { ComponentType } from 'preact';
import { seesAll } from '../about.js';
import type { Page } from '../pages.js';
import { Link } from '../parts/buttons.js';
import { Skeleton } from '../parts/notices.js';
import { w, withWords } from '../words.js';
import { ChunkGone, chunkIsGone, lazy } from './chunks.js';
import { missKeys } from './keys.js';

type Chunk = { readonly page: ComponentType } | { readonly failed: true } | undefined;

const NoRights = lazy(
  async () => (await withWords(import('../pages/no-rights.js'))).NoRights,
  ChunkGone,
);

/** The page that the address names, once its chunk has come. */
export function Content({ page }: { readonly page: Page | undefined }) {
  const [chunks, setChunks] = useState<Readonly<Record<string, Chunk>>>({});
  useEffect(() => {
    if (page === undefined || chunks[page.path] !== undefined) return;
    const put = (chunk: Chunk): void => setChunks((before) => ({ ...before, [page.path]: chunk }));
    page.load().then(
      (loaded) => put({ page: loaded }),
      (error: unknown) => {
        chunkIsGone(error);
        put({ failed: true });
      },
    );
  }, [page]);
  const isComing = page !== undefined && chunks[page.path] === undefined;
  useLayoutEffect(() => missKeys(isComing ? page : undefined, page), [isComing, page]);
  if (page === undefined) {
    return (
      <div class="card empty">
        <strong>{w().shell.noPage}</strong>
        <Link to="./">{w().shell.toStart}</Link>
      </div>
    );
  }
  if (page.admin && !seesAll()) return <NoRights />;
  const chunk = chunks[page.path];
  if (chunk === undefined) return <Skeleton />;
  if ('failed' in chunk) return <ChunkGone />;
  const { page: Loaded } = chunk;
  return <Loaded key={page.path} />;
}
