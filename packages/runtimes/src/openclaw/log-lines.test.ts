import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { maxLogLine } from '@lodge/ports';
import { logLines as hermesLines } from '../hermes/log-lines.ts';
import { logPiece, logPieceBytes } from '../log-piece.ts';
import { logLines as linesOf } from './log-lines.ts';
import { createOpenclawRuntime } from './runtime.ts';
import { startStubGuest, type StubGuest } from './testing/stub-guest.ts';

const runtime = createOpenclawRuntime();
const token = 'abcdef0123456789'.repeat(4);
const facts = { token, suspensionId: 's-1' };
const never = new AbortController().signal;
const time = '2026-11-21T11:51:39.275+00:00';
let guest: StubGuest;

beforeEach(async () => {
  guest = await startStubGuest();
});
afterEach(() => guest.close());

const logLines = (text: string) => linesOf(logPiece(text).lines);
const json = (fields: object): string => `${JSON.stringify({ time, ...fields })}\n`;

test('a line keeps its time, level, origin and details', () => {
  const text =
    json({ level: 'info', subsystem: 'gateway', message: 'ready' }) +
    json({ level: 'fatal', message: 'no room', code: 28 }) +
    json({ level: 'trace', subsystem: 'a/b', message: 'x' });
  const at = new Date(time);
  assert.deepEqual(logLines(text), [
    { at, level: 'info', message: '[gateway] ready' },
    { at, level: 'error', message: 'no room {"code":28}' },
    { at, level: 'debug', message: '[a/b] x' },
  ]);
});

test('guests of an earlier configuration are read too, and what no logger wrote is kept', () => {
  const text = `\u001b[90m${time}\u001b[39m \u001b[36m[gateway]\u001b[39m up\n\nFATAL ERROR: heap limit\n{not json}\n{"a":1}\n`;
  assert.deepEqual(logLines(text), [
    { at: new Date(time), level: 'info', message: '[gateway] up' },
    { at: null, level: 'info', message: 'FATAL ERROR: heap limit' },
    { at: null, level: 'info', message: '{not json}' },
    { at: null, level: 'info', message: '{"a":1}' },
  ]);
});

test('answers of the agent are not in its log', () => {
  assert.deepEqual(logLines(json({ level: 'info', message: 'My secret\nanswer' })), []);
  assert.deepEqual(
    logLines(`${time} First line\nsecond line\n${time} [gateway] next\nraw\n`).map((l) => l.message),
    ['[gateway] next', 'raw'],
  );
});

test('a long answer is left out as a whole, and a long line of a logger is cut', () => {
  const message = 'word '.repeat(20_000);
  assert.deepEqual(logLines(json({ level: 'info', message })), []);
  const [line] = logLines(json({ level: 'info', subsystem: 's', message }));
  assert.equal(line!.message.length, maxLogLine + 1);
});

test('a piece of the log has bounded lines, and no line in it takes long', () => {
  const { lines, leftOut } = logPiece(`${'\n'.repeat(1_000)}a\n${'b\n'.repeat(5_000)}c`);
  assert.deepEqual([lines.length, leftOut, lines[0]], [2_000, 3_002, 'a']);
  const units = [
    '\u001b];a',
    '\u001b]',
    '\r',
    'a'.repeat(63),
    '{"time":',
    '[',
    '{"a":[',
    '2026-01-01T',
    ' ',
    '\u001b[',
  ];
  for (const unit of units) {
    const text = `${unit.repeat(logPieceBytes / unit.length)}x`;
    const before = process.cpuUsage();
    for (const read of [linesOf, hermesLines]) read(logPiece(text).lines);
    // It takes a millisecond or two. Node's own function takes seconds.
    assert.ok(process.cpuUsage(before).user < 500_000, JSON.stringify(unit));
  }
});

test('the gateway’s token never leaves, wherever it stands', async () => {
  guest.runtimeLog =
    json({ level: 'warn', subsystem: 'auth', message: `got ${token}`, header: `Bearer ${token}` }) +
    `${time} [auth] x${token}y\nAuthorization: ${token.slice(0, 10)}\u001b[31m${token.slice(10)}\n`;
  const { lines, nextOffset } = await runtime.readLog(guest, 0, never);
  assert.equal(lines.length, 3);
  assert.ok(lines.every(({ message }) => !message.includes(token) && message.includes('[token]')));
  assert.equal(nextOffset, guest.runtimeLog.length);
  assert.deepEqual(await runtime.readLog(guest, nextOffset, never), { lines: [], nextOffset });
});

test('health is one look at gateway and guest, and says what it could not see', async () => {
  guest.health = { oomKills: 2, diskFreeMib: 900 };
  assert.deepEqual(await runtime.health(guest, facts, never), { gateway: null, oomKills: 2, diskFreeMib: 900 });
  guest.health = {};
  guest.gateway.ready = false;
  const unsaid = { oomKills: null, diskFreeMib: null };
  assert.deepEqual(await runtime.health(guest, facts, never), { gateway: 'starting', ...unsaid });
  await guest.close();
  const dead = await runtime.health(guest, facts, never);
  assert.match(dead.gateway!, /did not answer GET \/readyz/);
  await assert.rejects(runtime.health(guest, facts, AbortSignal.abort(new Error('over'))), /over/);
});
