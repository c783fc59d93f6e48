import { describe, expect, it } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import { describeApi, publishedApi } from '../../src/http/openapi.js';
import { OPERATIONS } from '../../src/operations/index.js';
import { resolved } from '../support/openapi.js';

const api = await describeApi(OPERATIONS);
const published = JSON.parse(JSON.stringify(await publishedApi(api))) as PublishedApi;

type Operation = Readonly<Record<string, unknown>> & {
  readonly parameters?: readonly object[];
};
interface PublishedApi extends Record<string, unknown> {
  readonly security: readonly object[];
  readonly components: Readonly<Record<string, object>>;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** An operation with what it may leave out because it is usual. */
function spelledOut({ parameters, ...operation }: Operation): object {
  return {
    security: published.security,
    ...operation,
    ...(parameters === undefined
      ? {}
      : { parameters: parameters.map((one) => ({ required: false, ...one })) }),
  };
}

describe('the published document', () => {
  it('says the same as the whole one, with every reference resolved', () => {
    const { paths } = resolved(published) as PublishedApi;
    const spelled = Object.entries(paths).map(([path, methods]) => [
      path,
      Object.fromEntries(
        Object.entries(methods).map(([method, operation]) => [method, spelledOut(operation)]),
      ),
    ]);

    expect(Object.fromEntries(spelled)).toEqual(JSON.parse(JSON.stringify(api.paths)));
  });

  it('names the shapes, and has every component that is there used', () => {
    const { schemas = {} } = published.components;

    expect(Object.keys(schemas)).toEqual(
      expect.arrayContaining(['Account', 'Channel', 'ErrorCode', 'Failure', 'Key', 'CallError']),
    );
    const text = JSON.stringify(published);
    const unused = ['schemas', 'parameters', 'responses', 'requestBodies'].flatMap((kind) =>
      Object.keys(published.components[kind] ?? {})
        .map((name) => `"#/components/${kind}/${name}"`)
        .filter((ref) => !text.includes(ref)),
    );
    expect(unused).toEqual([]);
  });

  it('leaves others a turn for each operation while it is made', async () => {
    let turns = 0;
    let turn = setImmediate(function next() {
      turns += 1;
      turn = setImmediate(next);
    });

    await describeApi(OPERATIONS);
    clearImmediate(turn);

    expect(turns).toBeGreaterThan(OPERATIONS.length);
  });

  it('has at most 300 kB', () => {
    expect(Buffer.byteLength(JSON.stringify(published))).toBeLessThanOrEqual(300_000);
  });

  it('is valid OpenAPI 3.1', async () => {
    const validator = new Validator();

    expect(await validator.validate(structuredClone(published))).toEqual({
      valid: true,
    });
    expect(validator.version).toBe('3.1');
  });
});
