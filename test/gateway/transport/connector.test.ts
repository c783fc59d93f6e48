import { once } from 'node:events';
import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  createConnector,
  ForbiddenAddressError,
  type JudgeAddress,
  type ResolveAll,
} from '../../../src/gateway/transport/connector.js';
import { awaitReply } from '../../../src/gateway/transport/nodes-inside.js';
import { until } from '../../support/until.js';

let server: Server;
/** The server's ends of its connections. */
const accepted: Socket[] = [];
/** The connections that were made to it. */
const made: Socket[] = [];
/** The address that the name `localhost` leads to. */
let address: string;

beforeEach(async () => {
  ({ address } = await lookup('localhost'));
  server = createServer((socket) => accepted.push(socket.on('error', () => undefined)));
  server.listen(0, address);
  await once(server, 'listening');
});
afterEach(() => {
  for (const socket of [...accepted.splice(0), ...made.splice(0)]) socket.destroy();
  server.close();
});

/** Connects, and resolves to the connection or to why there is none. */
function connect(
  hostname: string,
  judge: JudgeAddress,
  localAddress?: string,
  resolve?: ResolveAll,
) {
  const options = {
    hostname,
    protocol: 'http:',
    port: String((server.address() as AddressInfo).port),
    ...(localAddress === undefined ? {} : { localAddress }),
  };
  return new Promise<Socket | Error>((settle) => {
    createConnector(judge, resolve)(options, (...[error, socket]) => {
      if (error === null) made.push(socket.on('error', () => undefined));
      settle(error ?? socket);
    });
  });
}

const allowed: JudgeAddress = () => undefined;

describe('an address', () => {
  it.each([
    ['127.0.0.1', '127.0.0.1'],
    ['::1', '::1'],
    ['[::1]', '::1'],
  ])('that is given as %s is judged as %s, before there is a connection', async (host, judged) => {
    const seen: string[] = [];
    const error = await connect(host, (given) => {
      seen.push(given);
      return 'is not allowed';
    });

    expect(error).toBeInstanceOf(ForbiddenAddressError);
    expect(error).toMatchObject({
      code: 'ERR_ADDRESS_FORBIDDEN',
      message: 'the address is not allowed',
    });
    expect(seen).toEqual([judged]);
    expect(accepted).toEqual([]);
  });

  it('that is allowed is connected to', async () => {
    expect(await connect(address, allowed)).toMatchObject({ remoteAddress: address });
  });

  it('where nothing listens is a failed connection, not a forbidden one', async () => {
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    const error = await new Promise((resolve) => {
      const options = { hostname: address, protocol: 'http:', port: String(port) };
      createConnector(allowed)(options, (...[failure]) => resolve(failure));
    });

    expect(error).toMatchObject({ code: 'ECONNREFUSED' });
  });
});

describe('a name', () => {
  it('is judged by every address that it leads to', async () => {
    const all = (await lookup('localhost', { all: true })).map((found) => found.address);
    const seen: string[] = [];

    const error = await connect('localhost', (given) => {
      seen.push(given);
      return given === all.at(-1) ? 'is not allowed' : undefined;
    });

    expect(error).toBeInstanceOf(ForbiddenAddressError);
    expect(error).toMatchObject({ message: 'the name leads to an address that is not allowed' });
    expect(seen).toEqual(all);
    expect(accepted).toEqual([]);
  });

  it('of which all addresses are allowed is connected to', async () => {
    expect(await connect('localhost', allowed)).toMatchObject({ remoteAddress: address });
  });

  it('is connected to where only one address is asked for', async () => {
    // From an address of its own, a socket asks for one address of the name alone.
    const connected = await connect('localhost', allowed, address);

    expect(connected).toMatchObject({ remoteAddress: address });
  });

  describe('of several addresses', () => {
    /** A look-up that finds these, whatever is asked for. */
    const finds =
      (...found: readonly LookupAddress[]): ResolveAll =>
      (_name, _options, answer) => {
        setImmediate(answer, null, found);
      };
    const LOCAL = { address: '127.0.0.1', family: 4 };
    const OTHERS = ['10.0.0.1', '192.0.2.1'].map((found) => ({ address: found, family: 4 }));

    it.each([
      ['first', [LOCAL, ...OTHERS]],
      ['last', [...OTHERS, LOCAL]],
    ])('is refused if one of them is forbidden: the %s', async (_place, found) => {
      const seen: string[] = [];
      const error = await connect(
        'several.test',
        (given) => {
          seen.push(given);
          return given === LOCAL.address ? 'is not allowed' : undefined;
        },
        undefined,
        finds(...found),
      );

      expect(error).toBeInstanceOf(ForbiddenAddressError);
      expect(error).toMatchObject({ message: 'the name leads to an address that is not allowed' });
      expect(seen).toEqual(found.map((one) => one.address));
      expect(accepted).toEqual([]);
    });

    it('is connected to at whichever answers', async () => {
      // Nobody listens at the first: the server has only the address of `localhost`.
      const silent = { address: '127.9.9.9', family: 4 };
      const own = { address, family: address.includes(':') ? 6 : 4 };

      const connected = await connect('several.test', allowed, undefined, finds(silent, own));

      expect(connected).toMatchObject({ remoteAddress: address });
    });

    it('is connected to at the first where only one is asked for', async () => {
      const own = { address, family: address.includes(':') ? 6 : 4 };
      const [other] = OTHERS;
      if (other === undefined) throw new Error('there are two others');

      const connected = await connect('several.test', allowed, address, finds(own, other));

      expect(connected).toMatchObject({ remoteAddress: address });
    });

    it('is a failed connection if there is none of them', async () => {
      const error = await connect('several.test', allowed, undefined, finds());

      expect(error).toMatchObject({ message: 'the name has no address' });
    });
  });

  it('that does not resolve is not judged', async () => {
    const seen: string[] = [];
    const error = await connect('nowhere.invalid', (given) => {
      seen.push(given);
      return 'is not allowed';
    });

    expect(error).toMatchObject({ syscall: 'getaddrinfo' });
    expect(seen).toEqual([]);
  });
});

describe('a connection', () => {
  const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
  const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
  /** An interim reply of so many bytes. */
  const interim = (bytes: number) => {
    const [beginning, end] = ['HTTP/1.1 103 Early Hints\r\nlink: ', '\r\n\r\n'];
    return beginning + 'x'.repeat(bytes - beginning.length - end.length) + end;
  };
  const MOST = 64 * 1024;

  /** A connection, what is read from it, and a server that sends the next piece once the last one has arrived. */
  async function connection() {
    const socket = await connect(address, allowed);
    if (socket instanceof Error) throw socket;
    await until('the server has the connection', () => accepted.length === 1);
    let read = '';
    let sent = 0;
    socket.on('readable', () => {
      for (let chunk; (chunk = socket.read() as Buffer | null) !== null;) read += String(chunk);
    });
    const arrives = async (piece: string): Promise<string> => {
      sent += piece.length;
      accepted[0]?.write(piece);
      await until('the piece has arrived', () => socket.bytesRead === sent);
      await new Promise((resolve) => setImmediate(resolve));
      return read;
    };
    return { socket, arrives };
  }

  it.each([
    ['none', ''],
    ['one', CONTINUE],
    ['several', `${CONTINUE}${interim(60)}${CONTINUE}`],
    ['one of HTTP/1.0', 'HTTP/1.0 100 Continue\r\n\r\n'],
    ['one without a reason', 'HTTP/1.1 199\r\n\r\n'],
    ['as many bytes as may be', interim(MOST)],
  ])('is read without its interim replies: %s', async (_what, before) => {
    const { arrives } = await connection();

    expect(await arrives(before + OK)).toBe(OK);
  });

  it('is read without the one before a long reply, which is not counted with it', async () => {
    const { arrives } = await connection();
    const long = OK + 'x'.repeat(40_000);

    expect((await arrives(CONTINUE + long)) === long).toBe(true);
  });

  it('holds back what may become an interim reply, however it is cut', async () => {
    const { arrives } = await connection();

    for (const piece of ['H', 'TTP/1.', '1 ', '1', '00', ' Continue\r\n', '\r', '\nHTTP']) {
      expect(await arrives(piece)).toBe('');
    }
    expect(await arrives(OK.slice('HTTP'.length))).toBe(OK);
  });

  it.each([
    ['another protocol', 'SSH-2.0'],
    ['the beginning of a final status', 'HTTP/1.1 2'],
    ['another version', 'HTTP/1.2 '],
    ['a change of protocols', 'HTTP/1.1 101 Switching Protocols\r\n\r\n'],
    ['a status of four digits', 'HTTP/1.1 1000 Continue\r\n\r\n'],
    ['a status that is not a number', 'HTTP/1.1 1x0 Continue\r\n\r\n'],
    ['an interim reply that is too long', interim(MOST + 1)],
    ['one that is too long and has no end', interim(MOST + 5).slice(0, -4)],
  ])('leaves it to the client at once: %s', async (_what, text) => {
    const { arrives } = await connection();

    expect((await arrives(text)) === text).toBe(true);
  });

  it('leaves too many bytes of interim replies to the client', async () => {
    const { arrives } = await connection();

    expect(await arrives(CONTINUE)).toBe('');
    expect((await arrives(interim(MOST))).length).toBe(MOST);
  });

  it('is read as it is after the head of a reply, until the next request is sent on it', async () => {
    const { socket, arrives } = await connection();

    expect(await arrives(OK + CONTINUE)).toBe(OK + CONTINUE);
    expect(await arrives(CONTINUE)).toBe(OK + CONTINUE + CONTINUE);

    awaitReply(socket);
    expect(await arrives(CONTINUE)).toBe(OK + CONTINUE + CONTINUE);
  });

  it('may carry as many interim replies for each request', async () => {
    const { socket, arrives } = await connection();
    await arrives(interim(MOST) + OK);

    awaitReply(socket);
    expect(await arrives(interim(MOST) + OK)).toBe(OK + OK);
  });

  it('of which nobody is told is not waited for', () => {
    expect(() => awaitReply({})).not.toThrow();
  });
});
