import express, { type Router } from 'express';
import { DOCS_POLICY, docsPage } from './docs-page.js';
import { describeApi, publishedApi } from './openapi.js';
import type { Operation } from '../operations/operation.js';

interface Reference {
  readonly json: string;
  readonly page: string;
}

/** `/openapi.json` for programs and `/docs` for people, made from the table of operations when first asked for. */
export function docsRoutes(operations: readonly Operation[]): Router {
  const router = express.Router();
  let reference: Promise<Reference> | undefined;
  const ready = (): Promise<Reference> => {
    reference ??= describeApi(operations).then(async (api) => ({
      json: JSON.stringify(await publishedApi(api)),
      page: docsPage(api),
    }));
    return reference;
  };
  router.get('/openapi.json', async (_req, res) => {
    const { json } = await ready();
    res.type('application/json').send(json);
  });
  router.get('/docs', async (_req, res) => {
    const { page } = await ready();
    res.setHeader('Content-Security-Policy', DOCS_POLICY);
    res.type('html').send(page);
  });
  return router;
}
