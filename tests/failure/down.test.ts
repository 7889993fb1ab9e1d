/**
 * `npm run down` with agents that run, the control plane killed or not. The guarantees: nothing of the Lodge runs
 * afterwards, what an agent wrote just before is kept, and the next start brings every agent back without counting the
 * stop as a crash, however often it happens.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { guestClientOf } from '@lodge/testkit/guest';
import { Service } from '@lodge/testkit/service';
import { holdings } from './holdings.ts';

const run = promisify(execFile);
const cli = new URL('../../apps/server/src/cli/main.ts', import.meta.url).pathname;
/** Booting a bare guest under emulation takes some ten seconds; with room to spare. */
const bootTimeoutMs = 5 * 60_000;

let service: Service;
let id: string;

before(
  async () => {
    service = await Service.start({ entry: new URL('./lodge-with-bare-guests.ts', import.meta.url) });
    await service.awaitTemplate(10 * 60_000);
    const reply = await service.call('POST', '/agents', { name: 'Down and up', size: 'small' });
    assert.equal(reply.status, 201, JSON.stringify(reply.body));
    id = reply.body.id as string;
  },
  { timeout: 12 * 60_000 },
);
after(() => service?.destroy());

const guest = () => guestClientOf(service.dataDir, id);

async function down(): Promise<string> {
  const { stdout } = await run(process.execPath, [cli, 'down'], { env: service.env });
  const held = await holdings(service.dataDir, service.instance);
  assert.deepEqual(held, { emulators: [], namespaces: 0, links: 0, folders: [id] });
  return stdout;
}

async function upAgain(): Promise<void> {
  await service.up();
  const deadline = Date.now() + bootTimeoutMs;
  for (;;) {
    const { body } = await service.call('GET', `/agents/${id}`);
    if (body.status === 'running') return;
    assert.equal(body.status, 'provisioning', service.output);
    assert.notEqual(body.status_reason?.code, 'vm_crashed');
    assert.ok(Date.now() < deadline, `not running after ${bootTimeoutMs} ms:\n${service.output}`);
    await sleep(200);
  }
}

test(
  'down beside a running control plane stops it and its agents, and they come back',
  { timeout: 20 * 60_000 },
  async () => {
    await (await guest()).writeFile('/srv/kept', 'written just before\n', { mode: 0o600, owner: 'root' });
    const said = await down();
    assert.match(said, /control plane \(pid \d+\) stopped/);
    assert.match(said, /1 virtual machine stopped, disks kept/);
    await service.end('SIGKILL');
    await upAgain();
    assert.equal(Buffer.from(await (await guest()).readFile('/srv/kept')).toString(), 'written just before\n');
  },
);

test(
  'down after the control plane was killed does the same, and twice in ten minutes is no crash',
  { timeout: 20 * 60_000 },
  async () => {
    await service.end('SIGKILL');
    const said = await down();
    assert.match(said, /1 virtual machine stopped, disks kept/);
    assert.match(said, /database stopped/);
    await upAgain();
  },
);
