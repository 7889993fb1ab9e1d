/**
 * A guest knows the beginning of a credential and lets the service repeat its words, with thousands of guesses of the rest
 * in one answer. It gets its own words back, byte for byte, so only a guess of the whole credential has an effect.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { startHostileServer } from './testing/hostile-server.ts';
import type { Answer, HostileServer } from './testing/hostile-server.ts';
import { startMcpServer } from './testing/mcp-server.ts';

import { startWorld } from './testing/world.ts';
import type { TestWorld } from './testing/world.ts';

const random = (length: number): string => randomBytes(length).toString('base64url').slice(0, length);
const basic = (text: string): string => Buffer.from(text).toString('base64');
const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const password = random(20);
const jwtHead = part({ alg: 'HS256', typ: 'JWT' });

interface Kind {
  readonly header: readonly [name: string, value: string];
  /** The secret that the guest wants, and its known beginning. */
  readonly secret: string;
  readonly knows: string;
}
const bearer = (knows: string, length: number): Kind => {
  const secret = knows + random(length);
  return { header: ['Authorization', `Bearer ${secret}`], secret, knows };
};
const kinds: Readonly<Record<string, Kind>> = {
  github_pat: bearer('github_pat_11ABCDEq7', 70),
  ghp: bearer('ghp_', 36),
  'sk-ant': bearer('sk-ant-api03-', 95),
  sk_live: bearer('sk_live_', 24),
  'sk-proj': bearer('sk-proj-', 120),
  lin_api: bearer('lin_api_', 40),
  secret_: bearer('secret_', 43),
  JWT: bearer(`${jwtHead}.${part({ sub: 'agent', iat: 1_767_225_600 })}.`, 43),
  Basic: {
    header: ['Authorization', `Basic ${basic(`agent@example.com:${password}`)}`],
    secret: password,
    knows: '',
  },
  cookie: ((secret) => ({ header: ['Cookie', `theme=dark; session=${secret}`], secret, knows: 'session=' }) as const)(
    random(32),
  ),
};

/** Each kind has an agent of its own, whose requests count for it alone, however quick the machine is. */
const addressOf = new Map(Object.keys(kinds).map((name, index) => [connectionOf(name), `127.0.0.${20 + index}`]));

function connectionOf(name: string): string {
  return name.toLowerCase().replaceAll('_', '-').replace(/-$/, '');
}

const signs = Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/.=');
const writings: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => Buffer.from(text).toString('hex'),
  (text) => basic(`agent@example.com:${text}`),
  encodeURIComponent,
];

/**
 * Returns guesses that are right up to each length, with one sign of every kind behind: a tenth of the 10,000 guesses of
 * each kind is right so far.
 */
function guesses({ secret, knows }: Kind): readonly string[] {
  const from = secret.startsWith(knows) ? knows.length : 0;
  const all: string[] = [];
  for (let at = from; at < secret.length - 1; at += 1) {
    for (const sign of signs)
      all.push(secret.slice(0, at) + sign, secret.slice(from, at) + sign, sign + secret.slice(at + 1));
  }
  const wrong = all.filter((guess) => !guess.includes(secret));
  const written = wrong.flatMap((guess) => writings.map((write) => write(guess)));
  const step = Math.max(1, Math.ceil(written.length / 10_000));
  return written.filter((_guess, index) => index % step === 0);
}

const reflect: Readonly<Record<string, Answer>> = {
  reflect: async (req, res) => {
    for await (const chunk of req) res.write(chunk);
    res.end();
  },
  'reflect-pieces': async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const bytes = Buffer.concat(chunks);
    res.setHeader('content-type', 'text/event-stream');
    for (let at = 0; at < bytes.length; at += 1_357) res.write(bytes.subarray(at, at + 1_357));
    res.end();
  },
  'reflect-header': (req, res) => res.setHeader('link', req.headers['x-say']!).end('see the header'),
  /** Repeats the request's words in the midst of a long answer, and then stalls. */
  'reflect-stalls': async (req, res) => {
    const said = req.headers['x-say'] as string;
    const lead = Number(req.headers['x-lead']);
    res.setHeader('content-type', req.headers['x-type'] as string);
    res.write(`${'-'.repeat(lead)}${said}`);
  },
};

let world: TestWorld;
let server: HostileServer;
let mcp: Awaited<ReturnType<typeof startMcpServer>>;
const expected = new Set<string>();

before(async () => {
  server = await startHostileServer('unused', reflect);
  mcp = await startMcpServer({
    token: (given) => given !== 'nobody',
    tools: () => [
      { name: 'says', answer: ({ text }) => ({ content: [{ type: 'text', text }] }) },
      {
        name: 'fails',
        answer: ({ text }) => {
          throw new Error(String(text));
        },
      },
    ],
  });
  const many = { callsPerMinute: 1_000_000, answerBytesPerSecond: 2 ** 30 };
  world = await startWorld({ callBounds: many, mcpBounds: { postsPerSecond: 10_000 } }, [...addressOf.values()]);
  for (const [name, { header }] of Object.entries(kinds)) {
    const headers = Object.fromEntries([header]);
    const connection = connectionOf(name);
    const address = addressOf.get(connection)!;
    world.put(address, { name: `h-${connection}`, url: server.url, headers });
    world.put(address, { name: `m-${connection}`, kind: 'mcp', allow: [], url: mcp.url, headers });
    expected.add(connection);
  }
});
after(async () => {
  await world?.close();
  await server?.close();
  await mcp?.close();
});

const post = async (connection: string, how: string, body: string): Promise<string> => {
  const url = `${world.broker.url}/connections/h-${connection}/allowed/${how}`;
  return (await world.broker.fetchFrom(addressOf.get(connection)!)(url, { method: 'POST', body })).text();
};
const ask = (connection: string, name: string, text: string) =>
  world.parts.tools.call(
    { agentId: world.broker.agentId(addressOf.get(connection)!), accountId: 'a', confirmations: null },
    `m-${connection}__${name}`,
    { text },
    AbortSignal.timeout(30_000),
  );

for (const [name, kind] of Object.entries(kinds)) {
  const connection = connectionOf(name);
  describe(name, () => {
    test('a guest that guesses gets its own words, whatever was right of them', async () => {
      const all = guesses(kind);
      assert.ok(all.length > 3_000, `${all.length} guesses`);
      const text = all.join('\n');
      for (const how of ['reflect', 'reflect-pieces']) assert.equal(await post(connection, how, text), text, how);
      assert.deepEqual(await ask(connection, 'says', text), { content: [{ type: 'text', text }], isError: false });
      for (let at = 0; at < all.length; at += Math.ceil(all.length / 20)) {
        const some = all
          .slice(at, at + 40)
          .join(' ')
          .slice(0, 900)
          .trim();
        const url = `${world.broker.url}/connections/h-${connection}/allowed/reflect-header`;
        const answer = await world.broker.fetchFrom(addressOf.get(connection)!)(url, { headers: { 'x-say': some } });
        assert.equal(answer.headers.get('link'), some);
        const failed = await ask(connection, 'fails', some);
        assert.match(String(failed?.content[0]?.text), /^The server said: /);
        assert.ok(String(failed?.content[0]?.text).endsWith(some));
      }
      assert.equal(world.echoed.length, 0);
    });

    test('the whole of it is refused, wherever it is among other guesses, in the same words', async () => {
      const others = guesses(kind).slice(0, 500);
      const answers = new Set<string>();
      for (const at of [0, 250, 500]) {
        const text = others.toSpliced(at, 0, kind.secret).join('\n');
        answers.add(await post(connection, 'reflect', text));
        const [block] = (await ask(connection, 'says', text))!.content;
        answers.add(JSON.stringify(block));
      }
      assert.equal(answers.size, 2, [...answers].join('\n').slice(0, 500));
      assert.equal(world.echoed.splice(0).length, 6);
    });

    test('how much of an answer came before it stood still says nothing of a guess', async () => {
      const { secret } = kind;
      const wrong = `${secret.slice(0, 3)}${'~'.repeat(secret.length - 4)}`;
      const ways = [
        { type: 'text/plain', lead: 3_000, least: 0 },
        { type: 'text/event-stream', lead: 3_000, least: 0 },
        { type: 'text/plain', lead: 1_300_000, least: 2 ** 20 },
      ];
      const came = (said: string) => Promise.all(ways.map((way) => cameOf(connection, { ...way, said })));
      const [right, none] = await Promise.all([came(secret.slice(0, -1)), came(wrong)]);
      assert.deepEqual(right, none);
      assert.ok(right[2]! > 1_000_000 && right[0] === 0 && right[1] === 0, String(right));
    });
  });
}

interface Standing {
  readonly said: string;
  readonly lead: number;
  readonly type: string;
  /** Bytes that come before anything is revealed. */
  readonly least: number;
}

/** Returns the bytes of an answer that came until its server had stalled for a while. */
async function cameOf(connection: string, { said, lead, type, least }: Standing): Promise<number> {
  const socket = connect({ port: world.broker.port, host: '127.0.0.1', localAddress: addressOf.get(connection)! });
  const say = `x-say: ${said}\r\nx-lead: ${lead}\r\nx-type: ${type}\r\n`;
  socket.write(`GET /connections/h-${connection}/allowed/reflect-stalls HTTP/1.1\r\nhost: x\r\n${say}\r\n`);
  let body = 0;
  socket.on('data', (chunk: Buffer) => (body += chunk.filter((byte) => byte === 0x2d).length));
  const quiet: NodeJS.Timeout = setTimeout(() => (body < least ? quiet.refresh() : socket.destroy()), 400);
  socket.on('data', () => quiet.refresh());
  await once(socket, 'close');
  return body;
}
