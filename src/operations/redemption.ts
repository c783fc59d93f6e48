import Joi from 'joi';
import { MAX_QUOTA } from '../core/quota.js';
import {
  createRedemptionCodes,
  deleteInvalidRedemptionCodes,
  deleteRedemptionCode,
  disableRedemptionBatch,
  getRedemptionCode,
  listRedemptionCodes,
  MAX_CODES_AT_ONCE,
  refuseToUse,
  updateRedemptionCode,
  type FreshCode,
} from '../management/redemption-codes.js';
import type { RedemptionChange } from '../store/store.js';
import { COUNT } from '../shapes/counts.js';
import {
  ID,
  ID_PARAMS,
  IF_REVISION,
  KEYWORD,
  LIST_QUERY,
  listOf,
  listReply,
  sliceOf,
  type ListQuery,
  type ListReply,
} from '../shapes/lists.js';
import { csvOf } from '../core/csv.js';
import {
  BATCH,
  BATCH_ID,
  batchWire,
  CODE,
  CODE_STATUS,
  CODE_STATUS_NUMBERS,
  codeWire,
  STATUS_NAMES,
  type CodeWire,
} from '../shapes/code.js';
import { defineOperation, inArea, FileReply, type OperationDeps } from './operation.js';
import { orPresent } from './present.js';
import { REASON, REASON_QUERY } from './reason.js';
import { isStatusOnly, STATUS_ONLY_QUERY } from './status-only.js';
import {
  arrayOf,
  choice,
  optional,
  partial,
  recordOf,
  shape,
  type ObjectOf,
  type Of,
} from '../shapes/shape.js';

const TIME = Joi.number().integer().min(0);
const EXPIRED_TIME = TIME.description('Unix seconds; 0: never.');
const QUOTA = Joi.number().integer().min(1).max(MAX_QUOTA);
const NAME = Joi.string().max(1_024);
const FILTERS = partial({
  name: NAME.empty('').description('Exactly this name.'),
  batch_id: BATCH_ID.empty(''),
  status: CODE_STATUS.empty(''),
});
const SEARCHED = { ...FILTERS, keyword: KEYWORD };

const list = defineOperation({
  id: 'listRedemptionCodes',
  method: 'GET',
  path: '/api/redemption',
  summary: 'All redemption codes, newest first',
  access: 'auditor',
  query: shape({ ...LIST_QUERY, ...FILTERS }),
  reply: listOf(CODE),
  handler: ({ deps, query }) => listed(deps, query),
});

const search = defineOperation({
  id: 'searchRedemptionCodes',
  method: 'GET',
  path: '/api/redemption/search',
  summary: 'Search redemption codes by part of the name, or by id',
  access: 'auditor',
  query: shape({ ...LIST_QUERY, ...SEARCHED }),
  reply: listOf(CODE),
  handler: ({ deps, query }) => listed(deps, query),
});

async function listed(
  deps: OperationDeps,
  query: ListQuery & ObjectOf<typeof SEARCHED>,
): Promise<ListReply<CodeWire>> {
  const { status, ...wanted } = recordOf(SEARCHED, query);
  const found = await listRedemptionCodes(deps, {
    ...sliceOf(query),
    ...wanted,
    ...(status === undefined ? {} : { status: STATUS_NAMES[status] }),
  });
  return listReply(found, query, codeWire);
}

const get = defineOperation({
  id: 'getRedemptionCode',
  method: 'GET',
  path: '/api/redemption/:id',
  summary: 'One redemption code',
  access: 'auditor',
  params: ID_PARAMS,
  reply: CODE,
  errors: ['not_found'],
  handler: async ({ deps, params }) => codeWire(await getRedemptionCode(deps, params.id)),
});

const batches = defineOperation({
  id: 'listRedemptionBatches',
  method: 'GET',
  path: '/api/redemption/batch',
  summary: 'Redemption codes added up by batch, newest first',
  description: 'Codes of older releases are grouped by name. Reads every code.',
  access: 'auditor',
  reply: arrayOf(BATCH),
  handler: async ({ deps }) => (await deps.store.sumCodes(deps.now())).map(batchWire),
});

const disableBatch = defineOperation({
  id: 'disableRedemptionBatch',
  method: 'POST',
  path: '/api/redemption/batch/disabled',
  summary: 'Disable the unused codes of one batch, or of one name',
  description: 'Returns how many. Skips those with an equal or higher role.',
  access: 'admin',
  body: shape({ ...partial({ name: NAME, batch_id: BATCH_ID }), reason: REASON }).xor(
    'name',
    'batch_id',
  ),
  reply: COUNT,
  handler({ deps, body: { name = '', batch_id: batchId }, actor }) {
    const of = batchId === undefined ? { name } : { batchId };
    return disableRedemptionBatch(deps, of, actor);
  },
});

const create = defineOperation({
  id: 'createRedemptionCodes',
  method: 'POST',
  path: '/api/redemption',
  summary: 'Make redemption codes',
  description: 'Answers with the codes, which are not shown again: as JSON, or as a file.',
  access: 'admin',
  query: shape({ format: choice('json', 'csv', 'text').default('json') }),
  body: shape({
    name: NAME,
    quota: QUOTA.description('What each of them is worth.'),
    count: Joi.number().integer().min(1).max(MAX_CODES_AT_ONCE).default(1),
    expired_time: EXPIRED_TIME.default(0),
    reason: REASON,
  }),
  reply: arrayOf(Joi.string()),
  files: ['text/csv', 'text/plain'],
  idempotent: true,
  async handler({ deps, query, body, actor }) {
    const { name, quota, count, expired_time: expiredTime } = body;
    const draft = { name, quota, count, expiredTime };
    const fresh = await createRedemptionCodes(deps, draft, actor);
    switch (query.format) {
      case 'json':
        return fresh.map(({ code }) => code);
      case 'csv':
        return new FileReply('text/csv', 'redemption-codes.csv', tableOf(fresh));
      case 'text': {
        const lines = fresh.map(({ code }) => `${code}\n`);
        return new FileReply('text/plain', 'redemption-codes.txt', lines.join(''));
      }
    }
  },
});

const EDITABLE = partial({ name: NAME, quota: QUOTA, expired_time: EXPIRED_TIME });
const UPDATE_BODY = shape({
  id: ID,
  ...EDITABLE,
  status: optional(CODE_STATUS),
  if_revision: IF_REVISION,
  reason: REASON,
});
type UpdateBody = Of<typeof UPDATE_BODY>;

const update = defineOperation({
  id: 'updateRedemptionCode',
  method: 'PUT',
  path: '/api/redemption',
  summary: 'Change a redemption code',
  description:
    'Absent members stay as they are. A used code cannot change. With `status_only`, only the status changes.',
  access: 'admin',
  query: STATUS_ONLY_QUERY,
  body: UPDATE_BODY,
  reply: CODE,
  beside: { data: CODE },
  errors: ['not_found', 'conflict'],
  async handler({ deps, query, body, actor }) {
    const { id } = body;
    if (body.status === CODE_STATUS_NUMBERS.used) await refuseToUse(deps, id);
    const change = changeOf(body, isStatusOnly(query, body));
    const update = updateRedemptionCode(deps, id, change, actor, body.if_revision);
    return codeWire(
      await orPresent(update, async () => codeWire(await getRedemptionCode(deps, id))),
    );
  },
});

const removeInvalid = defineOperation({
  id: 'deleteInvalidRedemptionCodes',
  method: 'DELETE',
  path: '/api/redemption/invalid',
  summary: 'Delete the codes that are used, disabled or expired',
  description: 'Returns how many.',
  access: 'admin',
  query: REASON_QUERY,
  reply: COUNT,
  handler: ({ deps, actor }) => deleteInvalidRedemptionCodes(deps, actor),
});

const remove = defineOperation({
  id: 'deleteRedemptionCode',
  method: 'DELETE',
  path: '/api/redemption/:id',
  summary: 'Delete a redemption code',
  access: 'admin',
  params: ID_PARAMS,
  query: REASON_QUERY,
  errors: ['not_found'],
  async handler({ deps, params, actor }) {
    await deleteRedemptionCode(deps, params.id, actor);
    return null;
  },
});

function changeOf(body: UpdateBody, statusOnly: boolean): RedemptionChange {
  const { status } = body;
  return {
    ...(status === undefined ? {} : { enabled: status === CODE_STATUS_NUMBERS.enabled }),
    ...(statusOnly ? {} : recordOf(EDITABLE, body)),
  };
}

const CODE_COLUMNS = ['id', 'name', 'code', 'quota', 'expired_time'];

function tableOf(fresh: readonly FreshCode[]): string {
  const rows = fresh.map(({ record: { id, name, quota, expiredTime }, code }) => [
    ...[id, name, code, quota, expiredTime],
  ]);
  return csvOf(CODE_COLUMNS, rows);
}

export const REDEMPTION_OPERATIONS = inArea('redemption', [
  list,
  search,
  batches,
  disableBatch,
  get,
  create,
  update,
  removeInvalid,
  remove,
]);
