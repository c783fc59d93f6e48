import type { Command } from 'commander';
import type { PriceWire } from '../wire/price.js';
import { onGateway, type CliIo, type Session } from './session.js';
import { amount, table } from './text.js';

export function addPriceCommand(program: Command, io: CliIo): void {
  program.command('prices').description('what models cost').action(onGateway(io, listPrices));
}

const PER: Readonly<Record<PriceWire['per'], string>> = {
  request: 'a request',
  search_unit: 'a search unit: one query with up to 100 documents',
  million_tokens: 'a million tokens',
};

async function listPrices({ backend, show }: Session): Promise<void> {
  const prices = await backend.listPrices();
  const rows = Object.entries(prices.models).map(([model, price]) => rowOf(model, price));
  show(prices, table(['MODEL', 'PRICE', 'FOR'], [...rows, rowOf('any other', prices.default)]));
}

function rowOf(model: string, { per, units }: PriceWire): string[] {
  return [model, amount(units), PER[per]];
}
