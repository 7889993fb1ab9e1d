/** A hostile emulator at its control socket: it is recognised, and its machine is ended. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { isAlive, readMark } from '../host/process.ts';
import { Connections } from '../lifecycle/connections.ts';
import { RunDirectory } from '../saved/run-directory.ts';
import { Qmp } from './qmp.ts';
import { ExitWatch } from './watch.ts';
import { Witness } from './witness.ts';

let folder: string;
let server: Server;
const clients = new Set<Socket>();
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lodge-qmp-'));
});
afterEach(async () => {
  for (const client of clients) client.destroy();
  clients.clear();
  server.close();
  await rm(folder, { recursive: true, force: true });
});

/** Greets and accepts the first command as QEMU does; `say` sends the rest. */
async function connected(say: (socket: Socket) => void): Promise<Qmp> {
  server = createServer((socket) => {
    clients.add(socket);
    socket.on('error', () => undefined).write('{"QMP":{}}\n');
    socket.once('data', () => {
      socket.write('{"id":1,"return":{}}\n');
      socket.once('data', () => say(socket));
    });
  });
  const path = join(folder, 'qmp');
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return Qmp.connect(path, { timeoutMs: 10_000 });
}

async function flood(socket: Socket, text: string): Promise<void> {
  while (!socket.destroyed) {
    if (!socket.write(text)) await new Promise((resolve) => socket.once('drain', resolve));
    await new Promise(setImmediate);
  }
}

const event = '{"event":"RESUME","data":{}}\n';
const said: readonly (readonly [name: string, say: (socket: Socket) => void, why: RegExp])[] = [
  ['more messages than anyone', (socket) => void flood(socket, event.repeat(100)), /20000 messages in a second/],
  ['answers that nobody waits for', (socket) => void flood(socket, '{"id":7,"return":{}}\n'.repeat(100)), /20000/],
  ['more bytes than anyone', (socket) => void flood(socket, `{"event":"${'x'.repeat(2 ** 20)}"}\n`), /bytes in a sec/],
  ['a message without an end', (socket) => void flood(socket, ' '.repeat(2 ** 16)), /a message of more than/],
  ['a message of many values', (socket) => socket.write(`[${'[],'.repeat(2 ** 17)}[]]\n`), /65536 elements/],
  ['a deep message', (socket) => socket.write(`${'['.repeat(1000)}\n`), /32 levels/],
  ['what is no JSON', (socket) => socket.write('QEMU\n'), /no JSON/],
  ['what is no object', (socket) => socket.write('null\n'), /no object/],
];
for (const [name, say, why] of said) {
  test(`an emulator that sends ${name} is told apart, and who waits for it hears why`, async () => {
    const qmp = await connected(say);
    await assert.rejects(qmp.execute('query-status'), { name: 'VmError', code: 'failed', message: why });
    assert.match(qmp.broken!, why);
    await qmp.closed;
    await assert.rejects(qmp.execute('query-status'), { message: why });
  });
}

test('messages and bytes of an honest emulator are no flood: they are counted by the second', async () => {
  const qmp = await connected((socket) => {
    let sent = 0;
    const timer = setInterval(() => {
      socket.write(event.repeat(3000));
      sent += 3000;
      if (sent < 30_000) return;
      clearInterval(timer);
      socket.write('{"id":2,"return":{"status":"running"}}\n');
    }, 200);
  });
  assert.deepEqual(await qmp.execute('query-status'), { status: 'running' });
  assert.equal(qmp.broken, null);
  qmp.close();
});

test('an error of any length, or of anything, is told in short', async () => {
  const long = 'x'.repeat(100_000);
  for (const error of [{ class: long, desc: long }, { class: { toString: 1 }, desc: [] }, 'text', []]) {
    const qmp = await connected((socket) => socket.write(`${JSON.stringify({ id: 2, error })}\n`));
    await assert.rejects(qmp.execute('query-status'), ({ name, message }: Error) => {
      assert.equal(name, 'QmpError');
      return message.length < 2000;
    });
    qmp.close();
    server.close();
  }
});

test('the machine of such an emulator is ended, with a reason, and its end is told', async () => {
  const emulator = spawn('sleep', ['60'], { stdio: 'ignore' });
  try {
    const process = readMark(emulator.pid!)!;
    const qmp = await connected((socket) => void flood(socket, event.repeat(100)));
    const warned: unknown[] = [];
    const watch = new ExitWatch({ warn: (fields) => void warned.push(JSON.stringify(fields)) });
    const ended = new Promise((resolve) => watch.onExit(resolve));
    const directory = new RunDirectory(folder, 'abcdefghijk1');
    const witness = new Witness({ directory, outOfMemoryKill: () => Promise.resolve(false) }, null);
    await directory.create();
    void witness.attend(qmp, process).catch(() => undefined);
    watch.add({ agentId: 'a', executionId: 'e', process, qmp, witness });
    await assert.rejects(qmp.execute('query-status'));
    assert.deepEqual(await ended, { agentId: 'a', executionId: 'e' });
    assert.ok(!isAlive(process));
    assert.match(String(warned), /messages in a second/);
    assert.equal((await directory.readDeath())?.code, 'emulator_untrusted');
    watch.stop();
  } finally {
    emulator.kill('SIGKILL');
  }
});

test('the machine of one that was so before it was found again is ended as it is called', async () => {
  const emulator = spawn('sleep', ['60'], { stdio: 'ignore' });
  try {
    const process = readMark(emulator.pid!)!;
    const directory = new RunDirectory(folder, 'abcdefghijk1');
    await mkdir(dirname(directory.qmpSocket), { recursive: true });
    server = createServer((socket) => {
      clients.add(socket);
      void flood(
        socket.on('error', () => undefined),
        event.repeat(100),
      );
    });
    await new Promise<void>((resolve) => server.listen(directory.qmpSocket, resolve));
    const connections = new Connections(() => directory);
    const witness = new Witness({ directory, outOfMemoryKill: () => Promise.resolve(false) }, null);
    const vm = { agentId: 'abcdefghijk1', executionId: 'e', process, qmp: null, witness };
    await assert.rejects(connections.of(vm), { code: 'failed', message: /messages in a second/ });
    assert.ok(!isAlive(process));
  } finally {
    emulator.kill('SIGKILL');
  }
});
