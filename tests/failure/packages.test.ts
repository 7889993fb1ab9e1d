/**
 * Installs that fail in a real VM, for each reason that there is: the agent answers meanwhile and afterwards, its record and its
 * log say why, and the next list is installed as if nothing had been. The long form does so twenty times.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { isLongRun } from '@lodge/testkit/forms';
import { guestClientOf } from '@lodge/testkit/guest';
import { Service } from '@lodge/testkit/service';
import { openMirror, type Mirror } from '../../packages/runtimes/conformance/mirror.ts';

const minuteMs = 60_000;
/** A bound on each tool, which the script that hangs waits for. An emulated apt takes a sixth of it on a quiet host. */
const toolMs = 60_000;
let mirror: Mirror;
let service: Service;
let id: string;

before(
  async () => {
    mirror = await openMirror('a-plum');
    const entry = new URL('./lodge-with-bare-guests.ts', import.meta.url);
    const env = { ...mirror.env, LODGE_PACKAGES_TIMEOUT_MS: String(toolMs) };
    service = await Service.start({ entry, env });
    await service.awaitTemplate(10 * minuteMs);
    const lifecycle = { idle_timeout_seconds: 0 };
    const { status, body } = await service.call('POST', '/agents', { name: 'Unlucky', size: 'small', lifecycle });
    assert.equal(status, 201, JSON.stringify(body));
    id = body.id as string;
  },
  { timeout: 12 * minuteMs },
);
after(async () => {
  await service?.destroy();
  await mirror?.close();
});

/** Asks for packages and returns the error, or null when they are installed. The agent answers all the while. */
async function want(packages: object): Promise<string | null> {
  const { status, body } = await service.call('PATCH', `/agents/${id}`, { packages });
  assert.deepEqual([status, body.settings_pending], [200, true], JSON.stringify(body));
  for (const deadline = Date.now() + 5 * minuteMs; ; await sleep(500)) {
    assert.equal(await run('echo here; echo more >> /workspace/notes'), 'here\n');
    const {
      settings_pending: isPending,
      packages_error: error,
      status: is,
    } = (await service.call('GET', `/agents/${id}`)).body;
    assert.equal(is, 'running');
    if (error !== null || !isPending) return error as string | null;
    assert.ok(Date.now() < deadline, service.output.slice(-6_000));
  }
}

async function warnings(): Promise<string> {
  const { body } = await service.call('GET', `/agents/${id}/logs?source=system&level=warn&limit=50`);
  return JSON.stringify(body.data);
}

async function run(command: string): Promise<string> {
  const { status, body } = await service.call('POST', `/agents/${id}/exec`, { command, timeout_seconds: 30 });
  assert.equal(status, 200, JSON.stringify(body));
  return body.stdout as string;
}

/** Leaves so many MiB of the guest's disk. */
async function leaveRoom(mib: number): Promise<void> {
  const script = `rm -f /var/fill.* /var/ballast; fallocate -l $(( $(df -Pm / | awk 'NR == 2 { print $4 }') - ${mib} ))M /var/ballast`;
  const guest = await guestClientOf(service.dataDir, id);
  const { exitCode, stderr } = await guest.exec({ argv: ['sh', '-c', script], user: 'root', timeoutMs: 30_000 });
  assert.equal(exitCode, 0, stderr);
}

const failures: readonly (readonly [why: string, fail: () => Promise<void>])[] = [
  [
    'a script that hangs is ended with all that it has started',
    async () => {
      assert.match((await want({ apt: ['plum-hang'] }))!, /^apt .* longer than 60 seconds and was ended\./);
      assert.match(await warnings(), /apt: it hangs from here on/);
      assert.equal(
        await run('pgrep -x sleep; dpkg-query -W -f "\\${db:Status-Status}" plum-hang 2>/dev/null; true'),
        '',
      );
    },
  ],
  [
    'a source that does not answer',
    async () => {
      mirror.isUp = false;
      assert.match((await want({ apt: ['plum-deb'] }))!, /^apt .* it ended with status 100\./);
      mirror.isUp = true;
    },
  ],
  [
    'a disk that an install would fill',
    async () => {
      await leaveRoom(900);
      assert.match((await want({ apt: ['plum-fill'] }))!, /^apt .* the agent's disk has too little room\./);
      await leaveRoom(2_000);
    },
  ],
  [
    'a script that fails',
    async () => {
      assert.match((await want({ apt: ['plum-bad', 'plum-deb'] }))!, /^apt .* it ended with status 100\./);
      assert.match(await warnings(), /apt: it does not go on here/);
    },
  ],
];

for (let round = 1; round <= (isLongRun ? 5 : 1); round += 1) {
  for (const [why, fail] of failures) test(`${why}, round ${round}`, { timeout: 8 * minuteMs }, fail);
}

test('after all of them the right packages are installed', { timeout: 8 * minuteMs }, async () => {
  assert.equal(await want({ apt: ['plum-deb'] }), null);
  assert.equal(await run('plum-deb'), 'a-plum\n');
  assert.equal(await run('ls -A /var/cache/lodge-packages /opt/lodge/*.new 2>/dev/null; true'), '');
});
