import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { architecture } from './architecture.ts';
import { counterKhz, measureCounterKhz } from './counter-rate.ts';

const skip = architecture.counterParameter === null && 'the processor tells its guests the rate';
let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lodge-counter-'));
});
after(() => rm(folder, { recursive: true, force: true }));

const kept = async (): Promise<unknown> => JSON.parse(await readFile(join(folder, 'counter.json'), 'utf8'));
const isNear = (rate: number, other: number): boolean => Math.abs(rate / other - 1) < 0.01;

test('two measurements agree, and those who ask at once are told one rate', { skip }, async () => {
  const [first, ...others] = await Promise.all([1, 2, 3].map(() => counterKhz(folder)));
  assert.deepEqual(others, [first, first]);
  assert.deepEqual(await kept(), { khz: first });
  assert.ok(isNear(await measureCounterKhz(), first!));
});

test(
  'the kept rate stays while it is this host’s, and is replaced when it is another’s or was cut short',
  { skip },
  async () => {
    const rate = await counterKhz(folder);
    const near = Math.round(rate * 1.003);
    await writeFile(join(folder, 'counter.json'), JSON.stringify({ khz: near }));
    assert.equal(await counterKhz(folder), near);
    for (const wrong of [JSON.stringify({ khz: rate * 2 }), '{"khz":', '{"khz":"2"}']) {
      await writeFile(join(folder, 'counter.json'), wrong);
      const found = await counterKhz(folder);
      assert.ok(isNear(found, rate), `${found} kHz, not ${rate}`);
      assert.deepEqual(await kept(), { khz: found });
    }
  },
);
