import type { Command } from 'commander';
import { wholeRequest, type RequestWire } from '../shapes/request.js';
import { seesAll } from './accounts.js';
import { onGateway, type CliIo, type Session } from './session.js';
import { amount, facts, moment } from './text.js';

/** One request: what came of it and, for those who see channels, attempt by attempt. */
export function addRequestCommand(logs: Command, io: CliIo): void {
  logs
    .command('show')
    .description('show one request by its id, admitted or refused, with every attempt')
    .argument('<request>', 'its id, as the reply has it in X-Request-Id')
    .action(
      onGateway(io, async (session, { args: [id = ''] }) => {
        const { client, show } = session;
        const params = { request_id: id };
        const request = wholeRequest(
          (await seesAll(client))
            ? await client.call('getRequest', { params })
            : await client.call('getOwnRequest', { params }),
        );
        show(request, await textOf(session, request));
      }),
    );
}

async function textOf({ table }: Session, request: RequestWire): Promise<string> {
  const { tried } = request;
  const about = facts(
    factsOf(request).filter((fact): fact is [string, string] => fact[1] !== undefined),
  );
  if (tried.length === 0) return about;
  const rows = tried.map((attempt) => [
    attempt.channel ?? String(attempt.channel_id),
    attempt.provider,
    attempt.outcome,
    attempt.status === null ? '' : String(attempt.status),
    took(attempt.duration_ms),
    attempt.message,
  ]);
  const heading = ['CHANNEL', 'PROVIDER', 'OUTCOME', 'STATUS', 'TOOK', 'MESSAGE'];
  return `${about}\n\n${await table(heading, rows)}`;
}

function factsOf(request: RequestWire): [string, string | undefined][] {
  const { status, outcome, upstream_ms: upstream, repeated } = request;
  const named = (id: number | null, name: string | null): string | undefined =>
    id === null ? undefined : `${id} ${name ?? ''}`.trim();
  return [
    ['request', request.request_id],
    ['time', moment(request.created_at)],
    ['outcome', `${status} ${outcome}${request.kind === 'refused' ? ', not admitted' : ''}`],
    ['message', request.message ?? undefined],
    ['model', request.model ?? undefined],
    ['account', named(request.user_id, request.username)],
    ['key', named(request.token_id, request.token_name)],
    ['channel', named(request.channel_id, request.channel)],
    ['from', request.address ?? undefined],
    ['node', request.node ?? undefined],
    ['documents', String(request.documents)],
    ['tokens', String(request.input_tokens)],
    ['quota', amount(request.quota)],
    ['attempts', String(request.attempts)],
    ['took', took(request.duration_ms)],
    ['upstreams', upstream === null ? undefined : took(upstream)],
    ['repeated', repeated === 0 ? undefined : `${repeated} more of its kind`],
  ];
}

function took(ms: number): string {
  return `${Math.round(ms)} ms`;
}
