import type { IncomingMessage } from 'node:http';
import express, { type Router } from 'express';
import { GatewayError } from '../core/errors.js';
import { resolveModel } from '../core/model-names.js';
import { listModels, type ListedModel } from '../gateway/listed-models.js';
import { DIALECTS } from '../ingress/index.js';
import { allow } from './allow.js';
import { callerOf } from './authentication.js';
import { whenReady, type HealthDeps } from './health-routes.js';
import type { RerankRouteDeps } from './rerank-deps.js';

/** Below the name of a form, too: its clients ask where they rank. */
const FORM = `(?:\\/+(?:${DIALECTS.map(({ id }) => id).join('|')}))?`;
const MODELS_PATH = new RegExp(String.raw`^${FORM}(?:\/+v[12])*\/+models\/*$`, 'i');
const MODEL_PATH = new RegExp(String.raw`^${FORM}(?:\/+v[12])*\/+models\/(?<model>.+)$`, 'i');

/** The version that `/info` reports: one of TEI's that answers like this. */
const TEI_VERSION = '1.9.3';
/** In tokens: whatever ranks longer documents cuts them and does not refuse them. */
const MAX_INPUT_LENGTH = 32_768;

/** What clients ask before they rank anything: which models there are, and whether anybody is home. */
export function modelRoutes(deps: RerankRouteDeps, health: Pick<HealthDeps, 'ready'>): Router {
  const router = express.Router();
  // The name that the log uses comes first.
  const list = ['/v1/models', MODELS_PATH];
  const one = ['/v1/models/*model', MODEL_PATH];
  router.get(list, async (req, res) => {
    res.json(await handleModels(deps, req, undefined));
  });
  router.get(one, async (req, res) => {
    const { model } = req.params;
    res.json(await handleModels(deps, req, Array.isArray(model) ? model.join('/') : model));
  });
  router.get(INFO_PATHS, async (req, res) => {
    res.json(await describeServer(deps, req));
  });
  router.get(INFERENCE_PATHS, async (req, res) => {
    const { id } = await findModel(deps, req, String(req.params.model));
    res.setHeader('X-Elastic-Product', 'Elasticsearch');
    res.json(inferenceReply(id));
  });
  router.get(HEALTH_PATHS, async (_req, res) => {
    await whenReady(health);
    res.json(healthReply(deps.gateway.now()));
  });
  router.get(XINFERENCE_AUTH_PATH, (_req, res) => {
    res.json(xinferenceAuthReply());
  });
  for (const state of NIM_STATES) {
    router.get(`/v1/health/${state}`, async (_req, res) => {
      await whenReady(health);
      res.json(nimReply(state));
    });
  }
  const states = NIM_STATES.map((state) => `/v1/health/${state}`);
  const paths = [...list, ...one, ...INFO_PATHS, ...HEALTH_PATHS, XINFERENCE_AUTH_PATH, ...states];
  router.all(paths, allow('GET, HEAD'));
  return router;
}

/** For TEI, also below its name. */
const INFO_PATHS = ['/info', '/tei/info'];
/** For TEI, LocalAI, Infinity and vLLM. */
const HEALTH_PATHS = ['/health', new RegExp(String.raw`^${FORM}\/+health\/*$`, 'i')];
/** For Elasticsearch's clients. */
const INFERENCE_PATHS = ['/_inference/:model', '/_inference/rerank/:model'];
/** For Xinference's client, which sends its key to servers that say here that they want one. */
const XINFERENCE_AUTH_PATH = '/v1/cluster/auth';
/** For NVIDIA's NIM. */
const NIM_STATES = ['ready', 'live'] as const;

/** The combined answer of TEI, LocalAI and Infinity. */
export function healthReply(nowMs: number): Record<string, unknown> {
  return { status: 'ok', unix: nowMs / 1000 };
}

export function xinferenceAuthReply(): Record<string, unknown> {
  return { auth: true };
}

export function nimReply(state: (typeof NIM_STATES)[number]): Record<string, unknown> {
  return { object: 'health.response', message: `Service is ${state}.`, status: state };
}

/** `GET /info`: the key's default model, described as text-embeddings-inference describes the one that it has loaded. */
async function describeServer(deps: RerankRouteDeps, req: IncomingMessage): Promise<unknown> {
  const identity = await deps.authenticate(req);
  const caller = callerOf(req, identity, deps.trustedProxies);
  const models = await listModels(deps.gateway, caller);
  const { defaultModel = deps.defaultModel } = caller.credential.token.policy;
  const model = defaultModel ?? only(models);
  if (model === undefined) {
    throw new GatewayError(
      'model_not_found',
      'Neither the key nor the gateway has a default model: give the key one.',
      { param: 'model' },
    );
  }
  return infoReply(model, deps.maxDocuments);
}

/** A model as an inference endpoint of Elasticsearch. */
function inferenceReply(model: string): Record<string, unknown> {
  const settings = { service: 'custom', service_settings: { model_id: model }, task_settings: {} };
  return { endpoints: [{ inference_id: model, task_type: 'rerank', ...settings }] };
}

/** A model as the one that text-embeddings-inference has loaded. */
export function infoReply(model: string, maxDocuments: number): Record<string, unknown> {
  return {
    model_id: model,
    model_sha: null,
    model_dtype: 'float16',
    served_model_name: model,
    model_type: { reranker: { id2label: { '0': 'LABEL_0' }, label2id: { LABEL_0: 0 } } },
    max_concurrent_requests: 512,
    max_input_length: MAX_INPUT_LENGTH,
    max_batch_tokens: MAX_INPUT_LENGTH * maxDocuments,
    max_batch_requests: null,
    max_client_batch_size: maxDocuments,
    auto_truncate: true,
    tokenization_workers: 1,
    version: TEI_VERSION,
    sha: null,
    docker_label: null,
  };
}

/**
 * `GET /v1/models` and `GET /v1/models/{id}`: what the key may use now, in OpenAI's shape. Slashes around an id are the path's,
 * unless a model is called so: some are named by a file.
 */
async function handleModels(
  deps: RerankRouteDeps,
  req: IncomingMessage,
  model: string | undefined,
): Promise<unknown> {
  if (model !== undefined) return modelObject(await findModel(deps, req, model));
  const identity = await deps.authenticate(req);
  const models = await listModels(deps.gateway, callerOf(req, identity, deps.trustedProxies));
  return { object: 'list', data: models.map(modelObject) };
}

async function findModel(
  deps: RerankRouteDeps,
  req: IncomingMessage,
  model: string,
): Promise<ListedModel> {
  const identity = await deps.authenticate(req);
  const caller = callerOf(req, identity, deps.trustedProxies);
  return modelAmong(await listModels(deps.gateway, caller), model);
}

/** By its name, or with a prefix that a request may have before it, too. */
function modelAmong(models: readonly ListedModel[], model: string): ListedModel {
  const named = model.replace(/(?<!\/)\/+$/, '');
  const byId = new Map(models.map((listed) => [listed.id, listed]));
  for (const name of [named, named.replace(/^\/+/, '')]) {
    const id = resolveModel(name, (meant) => byId.has(meant));
    const found = id === undefined ? undefined : byId.get(id);
    if (found !== undefined) return found;
  }
  throw new GatewayError('model_not_found', `Model "${named}" does not exist.`, {
    param: 'model',
  });
}

function modelObject({ id, aliasOf }: ListedModel): Record<string, unknown> {
  return {
    id,
    object: 'model',
    created: 0,
    owned_by: 'rerank-gateway',
    model_type: 'rerank',
    ...(aliasOf === undefined ? {} : { alias_of: aliasOf }),
  };
}

/** The only model, if there is just one. */
function only(models: readonly ListedModel[]): string | undefined {
  const own = models.filter(({ aliasOf }) => aliasOf === undefined);
  return own.length === 1 ? own[0]?.id : undefined;
}
