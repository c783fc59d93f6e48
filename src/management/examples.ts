import { GatewayError } from '../core/errors.js';
import { withoutKeys } from '../core/secret.js';
import type { Example } from '../store/store.js';
import { ADMIN_ROLE, recordAudit, type Actor, type ManagementDeps } from './audit.js';
import { checkName, invalid } from './fields.js';

/** An input of the playground that somebody wants to keep: its query, documents, lanes and labels. */
export interface ExampleDraft {
  readonly name: string;
  readonly shared: boolean;
  readonly content: Readonly<Record<string, unknown>>;
}

export interface ExampleDeps extends ManagementDeps {
  /** Whether documents may be kept at all. */
  readonly keepsExamples: boolean;
}

type Somebody = Actor & { readonly id: number };

/** Of one account. */
const MAX_EXAMPLES = 100;
const MAX_CHARACTERS = 500_000;

/** Keeps an example; other people see it only if it is shared. */
export async function saveExample(
  deps: ExampleDeps,
  { name: given, shared, content }: ExampleDraft,
  actor: Somebody,
): Promise<Example> {
  if (!deps.keepsExamples) {
    throw new GatewayError(
      'permission_denied',
      'This gateway keeps no examples: its operator has set console.examples to false.',
    );
  }
  const name = checkName(given, 'name');
  const text = withoutKeys(JSON.stringify(content));
  if (text.length > MAX_CHARACTERS) {
    throw invalid('content', `content must be at most ${MAX_CHARACTERS} characters as JSON.`);
  }
  const example = { userId: actor.id, name, shared, content: text };
  const saved = await deps.store.addExample(example, MAX_EXAMPLES, deps.now());
  if (saved === 'too_many') {
    throw new GatewayError(
      'conflict',
      `You keep ${MAX_EXAMPLES} examples, the maximum; delete one that you no longer need.`,
    );
  }
  await recordAudit(deps, actor, 'example.save', target(saved.id), { name, shared }, { name });
  return saved;
}

/** One with what is in it; somebody else's that is not shared is as unknown as one that does not exist. */
export async function getExample(
  { store }: Pick<ManagementDeps, 'store'>,
  id: number,
  actor: Somebody,
): Promise<{ readonly example: Example; readonly content: Readonly<Record<string, unknown>> }> {
  const found = await store.getExample(id);
  if (found === undefined || !sees(actor, found.example)) throw noExample(id);
  // Written by `saveExample`.
  return { ...found, content: JSON.parse(found.content) as Readonly<Record<string, unknown>> };
}

/** Deletes one's own; admins also what others share. */
export async function deleteExample(
  deps: ManagementDeps,
  id: number,
  actor: Somebody,
): Promise<void> {
  const found = await deps.store.getExample(id);
  if (found === undefined || !sees(actor, found.example)) throw noExample(id);
  if (found.example.userId !== actor.id && actor.role < ADMIN_ROLE) {
    throw new GatewayError(
      'permission_denied',
      'This example belongs to somebody else, who shares it.',
    );
  }
  if (!(await deps.store.deleteExample(id))) throw noExample(id);
  const { name } = found.example;
  await recordAudit(deps, actor, 'example.delete', target(id), { name }, { name });
}

function sees(actor: Somebody, { userId, shared }: Example): boolean {
  return shared || userId === actor.id;
}

function noExample(id: number): GatewayError {
  return new GatewayError('not_found', `There is no example with id ${id}.`);
}

function target(id: number): string {
  return `example:${id}`;
}
