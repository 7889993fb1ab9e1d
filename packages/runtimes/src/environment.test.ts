import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { GuestError } from '@lodge/guest';
import { applyEnvironment, environmentInGuest, jsonFile, shellFile } from './environment.ts';

const never = new AbortController().signal;

function guestOf(files = new Map<string, string>()) {
  const wrote: string[] = [];
  return {
    files,
    wrote,
    readFile: async (path: string) => {
      const text = files.get(path);
      if (text === undefined) throw new GuestError(404, 'no such file');
      return Buffer.from(text);
    },
    writeFile: async (path: string, bytes: Uint8Array | string, { mode, owner }: { mode: number; owner: string }) => {
      wrote.push(`${path} ${mode.toString(8)} ${owner}`);
      files.set(path, Buffer.from(bytes).toString());
    },
  };
}

/** The environment of a shell that reads these texts in turn, as conversations do whose variables change. */
function shellsAfter(...texts: readonly string[]): Record<string, string> {
  const script = `${texts.join('\n')}\nexport -p >/dev/null; exec env -0`;
  const out = execFileSync('/bin/sh', ['-eu', '-c', script], { env: { KEPT: 'yes' } }).toString();
  return Object.fromEntries(
    out
      .split('\0')
      .filter((line) => line !== '')
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );
}

test('both files are of root, and what fits is not rewritten', async () => {
  const guest = guestOf();
  await applyEnvironment(guest, {}, never);
  assert.deepEqual(guest.wrote, [], 'a machine without variables has no files');
  await applyEnvironment(guest, { TZ: 'UTC' }, never);
  assert.deepEqual(guest.wrote, [`${jsonFile} 644 root`, `${shellFile} 644 root`]);
  assert.deepEqual(JSON.parse(guest.files.get(jsonFile)!), { TZ: 'UTC' });
  await applyEnvironment(guest, { TZ: 'UTC' }, never);
  assert.equal(guest.wrote.length, 2);
  guest.files.set(shellFile, 'rm -rf /');
  await applyEnvironment(guest, { TZ: 'UTC' }, never);
  assert.equal(guest.wrote.length, 3, 'what was changed is put right');
});

test('a shell has each value as it was given, whatever is in it', async () => {
  const guest = guestOf();
  const env = { A: 'it\'s $HOME `id` $(id) \\ "q"\n\tend ', B: '', C: "'; echo no; '", D: 'ä€' };
  await applyEnvironment(guest, env, never);
  const { PWD: _, LODGE_ENV: __, ...seen } = shellsAfter(guest.files.get(shellFile)!);
  assert.deepEqual({ ...seen, _: undefined }, { ...env, KEPT: 'yes', _: undefined });
});

test('variables that went are gone in shells that had them', async () => {
  const guest = guestOf();
  await applyEnvironment(guest, { A: '1', B: '2' }, never);
  const first = guest.files.get(shellFile)!;
  await applyEnvironment(guest, { B: '3' }, never);
  const second = guest.files.get(shellFile)!;
  assert.deepEqual(pick(shellsAfter(first, second)), { B: '3', KEPT: 'yes' });
  await applyEnvironment(guest, {}, never);
  assert.equal(guest.files.get(jsonFile), '{}\n');
  assert.deepEqual(pick(shellsAfter(first, second, guest.files.get(shellFile)!)), { KEPT: 'yes' });
});

const pick = ({ A, B, KEPT }: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries({ A, B, KEPT }).filter((pair): pair is [string, string] => pair[1] !== undefined));

test('an agent without variables has the digest that it had', () => {
  assert.deepEqual(environmentInGuest({}), {});
  assert.notDeepEqual(environmentInGuest({ A: '1' }), environmentInGuest({ A: '2' }));
});
