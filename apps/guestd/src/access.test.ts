/** The daemon admits only the host as root, whoever else can reach its port. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, test } from 'node:test';
import {
  claimHeader,
  credentialDigest,
  credentialParameter,
  newCredential,
  type GuestClient,
  type TerminalHandlers,
} from '@lodge/guest';
import { Daemon, refusedWith } from './testing.ts';

let daemon: Daemon;
beforeEach(async () => {
  daemon = new Daemon();
  await daemon.prepare();
});
afterEach(() => daemon.remove());

const stored = (): string => join(daemon.root, 'run/lodge/credential');
const unheard: TerminalHandlers = { data: () => true, drained: () => undefined, closed: () => undefined };
const terminal = { columns: 80, rows: 24, term: 'xterm' };
const id = { argv: ['id', '-u'], user: 'root', timeoutMs: 5_000 } as const;

/** With a call that changes nothing else: in a real guest it comes with the one that sets the clock. */
async function claim(presented: string | null, next: string): Promise<number> {
  const authorization = presented === null ? {} : { authorization: `Bearer ${presented}` };
  const headers = { ...authorization, [claimHeader]: next };
  const reply = await fetch(`http://127.0.0.1:${daemon.port}/v1/health`, { headers });
  await reply.body?.cancel();
  return reply.status;
}

/** Every kind of call there is: JSON, bytes both ways, streams, and a connection that is upgraded. */
function calls(guest: GuestClient): Record<string, Promise<unknown>> {
  const { signal } = new AbortController();
  return {
    health: guest.health(),
    clock: guest.setClock(),
    freeze: guest.freeze(),
    exec: guest.exec(id),
    stream: guest.execStream(id, { signal }),
    terminal: guest.openTerminal(terminal, unheard),
    write: guest.writeFile('/etc/lodge/owned', 'yes', { mode: 0o600, owner: 'root' }),
    read: guest.readFile('/etc/shadow'),
    log: guest.logs('guestd', 0, 100),
    folder: guest.workspace.list('', { after: '', limit: 10 }),
    upload: guest.workspace.write('owned', Buffer.from('yes'), {}, { signal }),
    tree: guest.readTree(['/etc'], { signal }),
    runtime: guest.stopRuntime(0),
  };
}

async function assertRefused(guest: GuestClient): Promise<void> {
  for (const [name, call] of Object.entries(calls(guest))) {
    await assert.rejects(call, refusedWith(401, /host's credential/), name);
  }
  assert.ok(!existsSync('/etc/lodge/owned') && !existsSync(join(daemon.root, 'workspace/owned')));
}

test('the first call of the host claims the daemon: from then on no other call is served, of whatever kind', async () => {
  await daemon.start();
  const credential = newCredential();
  assert.equal(await claim(null, credential), 200);
  const host = daemon.clientWith(credential);
  assert.equal((await host.health()).protocol, 1);
  assert.equal((await host.exec({ argv: ['echo', 'served'], timeoutMs: 5_000 })).stdout, 'served\n');
  (await host.openTerminal(terminal, unheard)).close();

  await assertRefused(daemon.client);
  await assertRefused(daemon.clientWith(newCredential()));
  await assertRefused(daemon.clientWith(credentialDigest(credential)));
  await assertRefused(daemon.clientWith(credential.slice(0, -1)));
});

test('a claimed daemon is claimed anew by the host alone, and what it knew before opens it no more', async () => {
  await daemon.start();
  const [earlier, later, thiefs] = [newCredential(), newCredential(), newCredential()];
  assert.equal(await claim(null, earlier), 200);
  assert.equal(await claim(null, thiefs), 401);
  assert.equal(await claim(thiefs, thiefs), 401);
  assert.equal(await claim(earlier, later), 200);
  await daemon.clientWith(later).health();
  await assertRefused(daemon.clientWith(earlier));
  await assertRefused(daemon.clientWith(thiefs));
});

test('a claim whose answer was lost may be repeated', async () => {
  await daemon.start();
  const [earlier, later] = [newCredential(), newCredential()];
  for (let times = 0; times < 2; times += 1) assert.equal(await claim(null, earlier), 200);
  for (let times = 0; times < 2; times += 1) {
    assert.equal(await claim(earlier, later), 200);
  }
  await daemon.clientWith(later).health();
});

test('a claim that is no credential is refused, and leaves the daemon as it was', async () => {
  await daemon.start();
  for (const wrong of ['short', `${newCredential()}=`, '~'.repeat(43)]) {
    assert.equal(await claim(null, wrong), 400);
  }
  await daemon.client.health();
  assert.ok(!existsSync(stored()));
});

test('a daemon that is started again after a crash is still claimed; what lies in the guest and its log opens nothing', async () => {
  await daemon.start();
  const credential = newCredential();
  assert.equal(await claim(null, credential), 200);
  await assert.rejects(daemon.client.health(), refusedWith(401));
  await daemon.kill();
  await daemon.start();
  await assertRefused(daemon.client);
  await daemon.clientWith(credential).health();
  assert.equal(readFileSync(stored(), 'utf8'), credentialDigest(credential));
  assert.equal(statSync(stored()).mode & 0o777, 0o600);
  assert.doesNotMatch(daemon.log(), new RegExp(credential));
});

test('a guest that booted is claimed from its first moment by what its kernel was told', async () => {
  const credential = newCredential();
  const parameters = `console=ttyS0 quiet ${credentialParameter}=${credentialDigest(credential)}\n`;
  writeFileSync(join(daemon.root, 'proc/cmdline'), parameters);
  await daemon.start();
  assert.equal(await claim(null, newCredential()), 401);
  await assertRefused(daemon.client);
  await daemon.clientWith(credential).health();
});

test('without a peer to go by, the daemon serves whoever presents the credential, and starts with none unknown', async () => {
  const credential = newCredential();
  await daemon.start('any', ['--credential-sha256', credentialDigest(credential)]);
  await daemon.clientWith(credential).health();
  await assertRefused(daemon.client);

  const main = join(import.meta.dirname, 'main.ts');
  for (const more of [[], ['--credential-sha256', 'short']]) {
    const options = ['--port', '0', '--root', daemon.root, '--peer', 'any', ...more];
    const child = spawn(process.execPath, [main, ...options], { stdio: ['ignore', 'ignore', 'pipe'] });
    const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
    assert.equal(code, 1);
    assert.match(said, /credential/);
  }
});

test('another user of the same machine gets nothing, by whatever it guesses, and fills no log with it', async () => {
  await daemon.start();
  const credential = newCredential();
  assert.equal(await claim(null, credential), 200);
  const before = daemon.log().length;
  const program = `
    const guesses = [undefined, '', 'Bearer', 'Bearer ', 'Basic root', 'Bearer ' + 'A'.repeat(43), 'Bearer ' + 'A'.repeat(8000)];
    const body = JSON.stringify({ argv: ['id', '-u'], user: 'root', timeoutMs: 5000 });
    const seen = new Set();
    for (let round = 0; round < 40; round += 1) {
      for (const authorization of guesses) {
        const headers = { ...(authorization !== undefined && { authorization }), '${claimHeader}': 'B'.repeat(43) };
        const reply = await fetch('http://127.0.0.1:${daemon.port}/v1/exec', { method: 'POST', headers, body });
        seen.add(reply.status + ' ' + (await reply.text()));
      }
    }
    console.log(JSON.stringify([...seen]));`;
  const stranger = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534, cwd: '/' } : {};
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    ...stranger,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const seen = JSON.parse(await text(child.stdout)) as string[];
  assert.deepEqual(seen, [`401 ${JSON.stringify({ error: "the call does not carry the host's credential" })}`]);
  assert.ok(daemon.log().length - before < 1_000, daemon.log().slice(before));
  await daemon.clientWith(credential).health();
});

test('of a call that may not be made no body is taken', async () => {
  await daemon.start();
  assert.equal(await claim(null, newCredential()), 200);
  const headers = { 'content-length': 64 * 1024 * 1024 };
  const { port } = daemon;
  const upload = request({ host: '127.0.0.1', port, method: 'PUT', path: '/v1/files?path=/etc/owned', headers });
  upload.on('error', () => undefined); // Cut off while it sends is as good.
  upload.write('a beginning, and nothing more');
  const [reply] = (await once(upload, 'response')) as [{ statusCode: number; resume(): void }];
  assert.equal(reply.statusCode, 401);
  reply.resume();
  await once(upload, 'close');
});
