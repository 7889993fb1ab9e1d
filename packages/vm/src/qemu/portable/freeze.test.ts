/** A process stands still for as long as the work takes, and goes on however its freezer ends. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { readMark } from '../host/process.ts';
import type { ProcessMark } from '../host/process.ts';
import { whileFrozen } from './freeze.ts';

const child = spawn('sleep', ['600'], { stdio: 'ignore' });
let mark: ProcessMark;
before(() => {
  mark = readMark(child.pid!)!;
});
after(() => child.kill('SIGKILL'));

const state = (): string => readFileSync(`/proc/${child.pid}/stat`, 'latin1').split(') ')[1]![0]!;

async function goesOn(): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (state() === 'T') {
    assert.ok(performance.now() < deadline, 'it stands still for good');
    await sleep(5);
  }
}

test('it is stopped meanwhile, and goes on afterwards, work that fails among it', async () => {
  assert.equal(await whileFrozen(mark, () => Promise.resolve(state())), 'T');
  await goesOn();
  await assert.rejects(
    whileFrozen(mark, () => Promise.reject(new Error('the copy failed'))),
    /the copy failed/,
  );
  await goesOn();
});

test('one freeze after another: the end of the first lets nothing go on in the second', async () => {
  for (let round = 0; round < 20; round += 1) {
    await whileFrozen(mark, async () => {
      await sleep(10);
      assert.equal(state(), 'T');
    });
  }
  await goesOn();
});

test('one that somebody let go on meanwhile makes a copy worthless', async () => {
  const work = async (): Promise<void> => {
    child.kill('SIGCONT');
    await goesOn();
  };
  await assert.rejects(whileFrozen(mark, work), { code: 'timeout' });
});

test('it goes on when whoever froze it is killed', async () => {
  const module = JSON.stringify(new URL('freeze.ts', import.meta.url).href);
  const script = `const { whileFrozen } = await import(${module});
    await whileFrozen(${JSON.stringify(mark)}, () => { console.log('frozen'); return new Promise(() => setTimeout(() => {}, 60000)); });`;
  const freezer = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(freezer.stdout, 'data');
  assert.equal(state(), 'T');
  freezer.kill('SIGKILL');
  await goesOn();
});

test('one that has ended is told', async () => {
  await assert.rejects(
    whileFrozen({ ...mark, startTime: mark.startTime - 1 }, () => Promise.resolve()),
    { code: 'gone' },
  );
});
