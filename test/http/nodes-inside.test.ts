import { expect, it } from '@jest/globals';
import express from 'express';
import { nodesInside, PLAIN } from '../../src/http/nodes-inside.js';

it('this version of Node has everything where it is expected', () => {
  const { bornFor, workOn, servingOf, letGo, breakOff } = nodesInside();

  expect([bornFor, workOn, servingOf, letGo]).not.toContain(undefined);
  expect(bornFor).not.toBe(PLAIN.bornFor);
  expect(workOn).not.toBe(PLAIN.workOn);
  expect(servingOf).not.toBe(PLAIN.servingOf);
  expect(breakOff).not.toBe(PLAIN.breakOff);
});

it('without it, Express sets its prototypes itself', () => {
  const app = express();

  expect(PLAIN.bornFor(app, Object, Object)).toBe(app);
});
