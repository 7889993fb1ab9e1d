import assert from 'node:assert/strict';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  encodeFrame,
  maxTerminals,
  terminalInput,
  type GuestTerminal,
  type ProcessEnd,
  type TerminalWanted,
} from '@lodge/guest';
import { Daemon, isAlive, refusedWith, until } from './testing.ts';

const daemon = new Daemon();
before(async () => {
  await daemon.prepare();
  await daemon.start();
});
after(() => daemon.remove());

class Screen {
  text = '';
  end: ProcessEnd | null | undefined;
  terminal!: GuestTerminal;

  static async open({ columns = 80, rows = 24, user = 'agent' }: Partial<TerminalWanted> = {}): Promise<Screen> {
    const screen = new Screen();
    screen.terminal = await daemon.client.openTerminal(
      { columns, rows, term: 'xterm', user },
      {
        data: (chunk) => {
          screen.text += String(chunk);
          return true;
        },
        drained: () => undefined,
        closed: (end) => (screen.end = end),
      },
    );
    return screen;
  }

  type(text: string): void {
    this.terminal.write(Buffer.from(text));
  }

  async shows(pattern: RegExp): Promise<RegExpExecArray> {
    return until(() => pattern.exec(this.text), 30_000);
  }
}

/** Processes with a terminal that have this daemon's workspace as their folder. */
function inTerminals(): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      const tty = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')[4];
      const folder = readlinkSync(`/proc/${pid}/cwd`);
      return tty !== '0' && isAlive(Number(pid)) && folder === `${daemon.root}/workspace`;
    } catch {
      return false;
    }
  });
}

test('a shell has a terminal of its own, of the size that was asked for, as the agent', async () => {
  const screen = await Screen.open({ columns: 93, rows: 31 });
  screen.type('tty; stty size; id -u; echo "$TERM $HOME" ä ✓; [ -t 0 ] && echo "is a" terminal\r');
  await screen.shows(/is a terminal/);
  assert.match(screen.text, /\/dev\/pts\/\d+/);
  assert.match(screen.text, /31 93/);
  assert.match(screen.text, /xterm \/home\/agent ä ✓/);
  if (process.getuid?.() === 0) assert.match(screen.text, /^1000\r$/m);
  screen.terminal.resize({ columns: 120, rows: 40 });
  screen.type('until [ "$(stty size)" = "40 120" ]; do sleep 0.1; done; echo re"sized"\r');
  await screen.shows(/resized/);
  screen.type('sleep 300\r');
  await sleep(200);
  screen.type('\x03');
  screen.type('echo in"terr"upted; exit 7\r');
  await screen.shows(/interrupted/);
  assert.deepEqual(await until(() => screen.end), { exitCode: 7, signal: null });
});

test(
  'a terminal of root is root’s own shell, and ends as the agent’s do',
  { skip: process.getuid?.() !== 0 },
  async () => {
    const screen = await Screen.open({ user: 'root' });
    screen.type('id -u; echo "$HOME $USER"; stat -c %u "$(tty)"; pwd; trap "" HUP TERM; sleep 300 & echo be"gun"\r');
    await screen.shows(/begun/);
    assert.match(screen.text, /^0\r$[^]*^\/root root\r$[^]*^0\r$/m);
    assert.match(screen.text, new RegExp(`^${daemon.root}/workspace\r$`, 'm'));
    screen.terminal.close();
    await until(() => inTerminals().length === 0);
  },
);

test('much output comes whole, at the pace of who reads it', async () => {
  const screen = await Screen.open();
  screen.type('seq 1 40000 | md5sum; seq 1 40000; echo the"end"\r');
  await screen.shows(/theend/);
  const numbers = screen.text.replaceAll('\r', '').match(/^\d+$/gm)!;
  assert.equal(numbers.length, 40_000);
  screen.terminal.close();
});

test('what runs in a terminal ends with its connection, whatever its group and whatever it ignores', async () => {
  const screen = await Screen.open();
  screen.type(`trap '' HUP TERM; set -m; sleep 301 & nohup sleep 302 & (trap '' HUP; sleep 303) & echo up"on"\r`);
  await screen.shows(/upon/);
  assert.ok(inTerminals().length >= 4, inTerminals().join());
  screen.terminal.close();
  await until(() => inTerminals().length === 0);
});

async function firstFree(): Promise<Screen> {
  for (const deadline = Date.now() + 10_000; ; await sleep(50)) {
    try {
      return await Screen.open();
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
  }
}

test('terminals are bounded, and as many as there may be leave nothing behind', async () => {
  const open: Screen[] = [];
  // One that was closed has its place for a moment longer.
  for (const deadline = Date.now() + 10_000; open.length < maxTerminals && Date.now() < deadline;) {
    const tried = await Promise.allSettled(Array.from({ length: maxTerminals - open.length }, () => Screen.open()));
    open.push(...tried.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : [])));
  }
  assert.equal(open.length, maxTerminals);
  await assert.rejects(Screen.open(), refusedWith(503));
  for (const screen of open) screen.type('sleep 300 | cat\r');
  await sleep(500);
  assert.ok(inTerminals().length >= maxTerminals);
  for (const screen of open) screen.terminal.close();
  await until(() => inTerminals().length === 0);
});

test('a daemon that is killed takes its terminals along', async () => {
  const screen = await firstFree();
  screen.type(`trap '' HUP; (trap '' HUP; sleep 300) & echo up"on"\r`);
  await screen.shows(/upon/);
  await daemon.kill();
  assert.equal(
    await until(() => (screen.end === undefined ? false : { end: screen.end })).then(({ end }) => end),
    null,
  );
  await daemon.start();
  await until(() => inTerminals().length === 0);
});

test('nonsense instead of a terminal is refused or cut off', async () => {
  const terminal = { columns: 80, rows: 24, term: 'xterm' };
  const handlers = { data: () => true, drained() {}, closed() {} };
  for (const wrong of [{ columns: 0 }, { rows: 1001 }, { columns: 1.5 }, { term: 'x y' }, { term: '' }]) {
    await assert.rejects(daemon.client.openTerminal({ ...terminal, ...wrong }, handlers), refusedWith(400));
  }
  for (const bytes of [
    Buffer.from([9, 0, 0, 0, 0]),
    Buffer.from([0, 255, 255, 255, 255]),
    encodeFrame(terminalInput.resize, 'no json'),
    encodeFrame(terminalInput.resize, '{"columns":-1,"rows":2}'),
  ]) {
    const socket = connect(daemon.port, '127.0.0.1');
    const head = 'host: x\r\nconnection: upgrade\r\nupgrade: lodge-terminal\r\n\r\n';
    socket.write(`GET /v1/terminal?columns=80&rows=24&term=xterm HTTP/1.1\r\n${head}`);
    socket.write(bytes);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.on('error', () => undefined).resume();
    assert.equal(await Promise.race([closed.then(() => 'closed'), sleep(5_000)]), 'closed');
  }
  await until(() => inTerminals().length === 0);
});
