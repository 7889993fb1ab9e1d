/** Commands and terminals over HTTP and WebSocket: the real API, engine, store and guest daemon; only the machine is not there. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { hashApiKey } from '@lodge/access';
import { WebSocket } from 'ws';
import { isAlive, until } from '../../apps/guestd/src/testing.ts';
import { openWorld } from './api/world.ts';
import type { World } from './api/world.ts';
import { Client } from './contract/states.ts';

let world: World;
let client: Client;
let id: string;
let base: string;
before(async () => {
  world = await openWorld({ withGuest: true, api: (usual) => ({ ...usual, terminalIdleMs: 2_000 }) });
  client = new Client(world);
  id = await client.agent('running');
  base = join(world.guest!.root, 'workspace');
});
after(() => world?.close());

const exec = (body: object, agent = id) => client.call('POST', `/agents/${agent}/exec`, body);
const holds = async (): Promise<number> =>
  (await world.sql.query<{ n: number }>('select count(*)::int as n from agent_holds')).rows[0]!.n;

test('a command is run, by the shell or without, and its end is told', async () => {
  const { status, body } = await exec({ command: 'cat; echo "$A" >&2; pwd; exit 3', stdin: 'in\n', env: { A: 'ä' } });
  assert.equal(status, 200);
  const { duration_ms: ms, ...rest } = body;
  assert.ok(ms > 0 && ms < 60_000);
  assert.deepEqual(rest, {
    object: 'exec',
    exit_code: 3,
    signal: null,
    timed_out: false,
    truncated: false,
    stdout: `in\n${base}\n`,
    stderr: 'ä\n',
  });
  assert.equal((await exec({ argv: ['printf', '%s', '$HOME *'] })).body.stdout, '$HOME *');
  const late = (await exec({ command: 'echo early; sleep 30', timeout_seconds: 1 })).body;
  assert.deepEqual([late.stdout, late.timed_out, late.exit_code, late.signal], ['early\n', true, null, 'SIGKILL']);
  const much = (await exec({ command: 'yes | head -c 2000000' })).body;
  assert.deepEqual([much.stdout.length, much.truncated], [1024 * 1024, true]);
});

test('what cannot be run is a 400 that says why', async () => {
  for (const [body, about] of [
    [{}, /command or argv/],
    [{ command: 'true', argv: ['true'] }, /command or argv/],
    [{ command: '' }, /command/],
    [{ argv: [] }, /argv/],
    [{ argv: ['no-such-program'] }, /could not be started/],
    [{ command: 'true', cwd: '/no/such/folder' }, /could not be started/],
    [{ command: 'a\0b' }, /command/],
    [{ command: 'true', env: { 'A=B': 'x' } }, /env/],
    [{ command: 'true', timeout_seconds: 601 }, /timeout_seconds/],
    [{ command: 'true', user: 'nobody' }, /user/],
    [{ command: 'true', user: null }, /user/],
  ] as const) {
    const { status, body: answer, text } = await exec(body);
    assert.deepEqual([status, answer.error.code], [400, 'invalid_request'], text);
    assert.match(answer.error.message, about);
  }
});

/** Acts of this agent as root that the audit log tells. */
async function rootActs(agent = id) {
  const { body } = await client.call('GET', '/audit-events?limit=100&order=desc');
  return body.data.filter(
    ({ action, target }: any) => action === 'agent.root_used' && target.type === 'agent' && target.id === agent,
  );
}

const isRoot = process.getuid?.() === 0;

test('a command of root is root’s, and told to the audit log without its words', { skip: !isRoot }, async () => {
  const secret = 'not-for-the-log';
  assert.equal((await exec({ command: 'id -u' })).body.stdout, '1000\n');
  assert.deepEqual(await rootActs(), [], 'the agent’s own is told nowhere');
  const { body } = await exec({ command: `id -u; : ${secret}`, user: 'root', cwd: base });
  assert.equal(body.stdout, '0\n', JSON.stringify(body));
  const late = (await exec({ command: 'sleep 30', user: 'root', cwd: base, timeout_seconds: 1 })).body;
  assert.deepEqual([late.timed_out, late.signal], [true, 'SIGKILL']);
  const [last, first, ...others] = await rootActs();
  assert.deepEqual(others, []);
  for (const { actor, details, address, request_id } of [first, last]) {
    assert.equal(actor.type, 'api_key');
    assert.deepEqual(details, { by: 'exec' });
    assert.ok(address && request_id);
  }
  assert.ok(!JSON.stringify([first, last]).includes(secret));
});

test('root is for who may write the agent, and told before it acts', { skip: !isRoot }, async () => {
  const asked = async (key: string) => {
    const url = `${world.url}/v1/agents/${id}/exec`;
    const headers = { 'x-api-key': key, 'content-type': 'application/json' };
    const body = JSON.stringify({ command: 'id -u', user: 'root', cwd: base });
    return (await fetch(url, { method: 'POST', headers, body })).status;
  };
  const before = (await rootActs()).length;
  assert.equal(await asked(await world.keyOf(world.accountId, ['agents:read', 'agents:chat'])), 403);
  assert.equal(await asked(await world.keyOf(await world.newAccount())), 404);
  assert.equal((await rootActs()).length, before);
  const terminal = await open('?user=root');
  type(terminal, 'id -u; echo "$HOME"; exit 4\r');
  await shows(terminal, /^0\r\n\/root\r$/m);
  assert.equal(await closed(terminal), 1000);
  assert.deepEqual((await rootActs())[0].details, { by: 'terminal' });
  await assert.rejects(open('?user=nobody'), /400/);
  await until(() => inTerminals().length === 0);
});

/** Events of a streamed command, with the time each came at. */
async function* follow(body: object, signal?: AbortSignal) {
  const response = await fetch(`${world.url}/v1/agents/${id}/exec`, {
    method: 'POST',
    headers: { 'x-api-key': world.key, 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, stream: true }),
    ...(signal && { signal }),
  });
  assert.match(response.headers.get('content-type')!, /^text\/event-stream/);
  let text = '';
  for await (const chunk of response.body!) {
    text += Buffer.from(chunk).toString();
    const blocks = text.split('\n\n');
    text = blocks.pop()!;
    for (const block of blocks) {
      const [, event = '', data = ''] = /^event: (\w+)\ndata: (.*)$/.exec(block) ?? [];
      yield { event, data: JSON.parse(data), at: performance.now() };
    }
  }
}

test('a command that streams tells what it writes as it comes', async () => {
  const seen: { event: string; data: any; at: number }[] = [];
  const command = `printf 'one \\xc3'; sleep 0.5; printf '\\xa4\\n'; echo two >&2; sleep 0.5; exit 5`;
  for await (const event of follow({ command })) seen.push(event);
  const text = (kind: string): string =>
    seen
      .filter(({ event }) => event === kind)
      .map(({ data }) => data.text)
      .join('');
  assert.deepEqual([text('stdout'), text('stderr')], ['one ä\n', 'two\n']);
  const last = seen.at(-1)!;
  assert.deepEqual([last.event, last.data.exit_code, last.data.timed_out], ['exit', 5, false]);
  assert.ok(last.at - seen[0]!.at > 700);
});

test('a command ends when its client goes, streaming or not, and the agent is held awake no longer', async () => {
  for (const stream of [true, false]) {
    const file = join(base, `pid-${stream}`);
    const stop = new AbortController();
    const command = `echo $$ > ${file}; echo begun; sleep 300`;
    const running = stream
      ? (async () => {
          for await (const _ of follow({ command }, stop.signal));
        })()
      : fetch(`${world.url}/v1/agents/${id}/exec`, {
          method: 'POST',
          headers: { 'x-api-key': world.key, 'content-type': 'application/json' },
          body: JSON.stringify({ command }),
          signal: stop.signal,
        });
    const pid = await until(() => existsSync(file) && Number(readFileSync(file, 'utf8')));
    assert.ok((await holds()) > 0);
    stop.abort();
    await assert.rejects(running);
    await until(() => !isAlive(pid));
    for (const deadline = Date.now() + 60_000; (await holds()) > 0; await sleep(50)) assert.ok(Date.now() < deadline);
  }
});

interface Opened {
  readonly socket: WebSocket;
  readonly screen: { text: string; control: string[]; code: number | null };
}
async function open(
  query = '',
  options: { key?: string | null; protocols?: string[]; agent?: string } = {},
): Promise<Opened> {
  const { key = world.key, protocols = [], agent = id } = options;
  const url = `${world.url.replace('http', 'ws')}/v1/agents/${agent}/terminal${query}`;
  const socket = new WebSocket(url, protocols, { headers: key === null ? {} : { 'x-api-key': key } });
  const screen: Opened['screen'] = { text: '', control: [], code: null };
  socket.on('message', (data: Buffer, isBinary) => {
    if (isBinary) screen.text += data.toString();
    else screen.control.push(data.toString());
  });
  socket.on('close', (code) => (screen.code = code));
  await once(socket, 'open');
  return { socket, screen };
}
const type = ({ socket }: Opened, text: string): void => socket.send(Buffer.from(text));
const shows = ({ screen }: Opened, pattern: RegExp): Promise<RegExpExecArray> =>
  until(() => pattern.exec(screen.text), 120_000);
const closed = ({ screen }: Opened): Promise<number> => until(() => screen.code ?? false);

/** Processes with a terminal that have the workspace as their folder. */
const inTerminals = (): string[] =>
  readdirSync('/proc').filter((pid) => {
    try {
      const tty = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')[4];
      return tty !== '0' && isAlive(Number(pid)) && readlinkSync(`/proc/${pid}/cwd`) === base;
    } catch {
      return false;
    }
  });

test('interactive programs work in a terminal, and are told of its new size', async () => {
  const terminal = await open('?cols=91&rows=33&term=xterm');
  type(terminal, 'stty size; echo ä "$TERM"\r');
  await shows(terminal, /33 91[^]*ä xterm/);
  type(terminal, 'top\r');
  await shows(terminal, /load average[^]*PID USER/);
  terminal.socket.send(JSON.stringify({ type: 'resize', cols: 60, rows: 20 }));
  type(terminal, 'q');
  // top discards keys that are typed before its end.
  await shows(terminal, /\$ $/);
  type(terminal, 'until [ "$(stty size)" = "20 60" ]; do sleep 0.1; done; python3 -q\r');
  await shows(terminal, />>> /);
  type(terminal, 'print("plum" * 2)\r');
  await shows(terminal, /plumplum/);
  type(terminal, 'exit(0)\rexit 6\r');
  assert.equal(await closed(terminal), 1000);
  assert.deepEqual(terminal.screen.control, ['{"type":"exit","exit_code":6,"signal":null}']);
});

test('much output comes whole to a client who reads slowly', async () => {
  const terminal = await open();
  type(terminal, 'stty -echo; seq 1 200000; echo the"end"\r');
  for (let pause = 0; pause < 5; pause += 1) {
    terminal.socket.pause();
    await sleep(100);
    terminal.socket.resume();
    await sleep(20);
  }
  await shows(terminal, /theend/);
  assert.equal(terminal.screen.text.match(/^\d+\r$/gm)!.length, 200_000);
  terminal.socket.close();
});

test('twenty terminals that are opened and dropped leave no process and no hold', async () => {
  const terminals = await Promise.all(Array.from({ length: 20 }, () => open()));
  for (const terminal of terminals) type(terminal, `trap '' HUP TERM; sleep 300 | cat & sleep 301\r`);
  await until(() => inTerminals().length >= 60);
  assert.ok((await holds()) > 0);
  for (const [index, { socket }] of terminals.entries()) {
    if (index % 2 === 0) socket.terminate();
    else socket.close();
  }
  await until(() => inTerminals().length === 0);
  for (const deadline = Date.now() + 60_000; (await holds()) > 0; await sleep(50)) assert.ok(Date.now() < deadline);
});

test('nothing is upgraded before key, scope, agent, state and parameters are right', async () => {
  const reader = await world.keyOf(world.accountId, ['agents:read', 'agents:chat']);
  const stranger = await world.keyOf(await world.newAccount());
  const stopped = await client.agent('stopped');
  for (const [options, query, status, code] of [
    [{ key: null }, '', 401, 'missing_api_key'],
    [{ key: 'x' }, '', 401, 'invalid_api_key'],
    [{ key: null }, `?api_key=${world.key}`, 401, 'missing_api_key'],
    [{ key: reader }, '', 403, 'insufficient_scope'],
    [{ key: stranger }, '', 404, 'agent_not_found'],
    [{ agent: 'aaaaaaaaaaaa' }, '', 404, 'agent_not_found'],
    [{ agent: stopped }, '', 409, 'agent_not_running'],
    [{}, '?cols=0', 400, 'invalid_request'],
    [{}, '?term=a%20b', 400, 'invalid_request'],
  ] as const) {
    await assert.rejects(open(query, options), new RegExp(`Unexpected server response: ${status}`), code);
  }
  const plain = await client.call('GET', `/agents/${id}/terminal`);
  assert.deepEqual([plain.status, plain.body.error.code], [400, 'invalid_request']);
  const woken = await open('?wake=true', { agent: stopped });
  woken.socket.close();
  assert.equal(await client.status(stopped), 'running');
  await client.call('DELETE', `/agents/${stopped}`);
});

test('a browser gives its key as a subprotocol, which is not said back', async () => {
  const terminal = await open('', { key: null, protocols: ['lodge.terminal', `bearer.${world.key}`] });
  assert.equal(terminal.socket.protocol, 'lodge.terminal');
  terminal.socket.close();
  const wrong = { key: null, protocols: ['lodge.terminal', 'bearer.lodge_live_no'] };
  await assert.rejects(open('', wrong), /401/);
});

test('messages that are none of the protocol end a terminal, and so does silence', async () => {
  const nonsense = await open();
  nonsense.socket.send('{"type":"resize","cols":-1,"rows":2}');
  assert.equal(await closed(nonsense), 1007);
  const large = await open();
  large.socket.send(Buffer.alloc(300_000));
  assert.equal(await closed(large), 1009);
  const idle = await open();
  const started = performance.now();
  assert.equal(await closed(idle), 1000);
  assert.ok(performance.now() - started > 1_500);
  await until(() => inTerminals().length === 0);
});

test('a terminal and a log that are open end with the key that opened them', async () => {
  const key = await world.keyOf(world.accountId);
  const terminal = await open('', { key });
  const typing = setInterval(() => type(terminal, ':\r'), 500);
  const log = await fetch(`${world.url}/v1/agents/${id}/logs?follow=true`, { headers: { 'x-api-key': key } });
  const other = await open();
  const others = setInterval(() => type(other, ':\r'), 500);
  await sleep(2_500);
  assert.equal(terminal.screen.code, null);
  await world.sql.query('update api_keys set revoked_at = now() where hash = $1', [hashApiKey(key)]);
  await Promise.race([log.text(), sleep(120_000, null, { ref: false }).then(() => assert.fail('the log goes on'))]);
  assert.equal(await closed(terminal), 1008);
  clearInterval(typing);
  assert.equal(other.screen.code, null, 'another key holds');
  clearInterval(others);
  other.socket.close();
  await until(() => inTerminals().length === 0);
});

test('a daemon that ends takes its terminals along, and the client is told', async () => {
  const terminal = await open();
  await world.guest!.kill();
  assert.equal(await closed(terminal), 1011);
  const { status, body } = await exec({ command: 'true' });
  assert.deepEqual([status, body.error.code], [503, 'agent_unavailable']);
});

test('the daemon of an older image, which knows no terminal of root, gives none: the agent is outdated', async () => {
  const older = createServer((_, response) => void response.destroy()).on('upgrade', (request, socket) => {
    // As its daemon answers to every path but this one.
    const [path] = request.url!.split('?');
    assert.notEqual(path, '/v1/terminal');
    const body = '{"error":"no such route"}';
    socket.end(
      `HTTP/1.1 404 Refused\r\nconnection: close\r\nx-guestd-protocol: 1\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
  });
  older.listen(world.guest!.port, '127.0.0.1');
  await once(older, 'listening');
  await assert.rejects(open('?user=root'), /409/);
  older.close();
});
